import type { Logger } from 'pino';
import type { Admission, Admitted } from './admit/admit.ts';
import type { BodyReader } from './admit/body.ts';
import type { UnderWay } from './admit/under-way.ts';
import type { Ledger } from './audit/ledger.ts';
import type { Publisher } from './audit/publisher.ts';
import type { ReceiptSigner } from './audit/receipts.ts';
import type { RecordMaker } from './audit/records.ts';
import type { Retention } from './audit/retention.ts';
import type { Clock } from './clock.ts';
import type { OriginConfig } from './config.ts';
import type { Forwarder } from './forward/attempt.ts';
import type { Health } from './health/health.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Standpoint } from './policy/standing.ts';
import type { StoreReader } from './store/store.ts';

/** The parts of a running origin that a call meets on its way. */
export interface Gateway {
  readonly config: OriginConfig;
  readonly clock: Clock;
  readonly admission: Admission;
  readonly underWay: UnderWay;
  readonly bodies: BodyReader;
  readonly forwarder: Forwarder;
  readonly ledger: Ledger;
  readonly records: RecordMaker;
  readonly receipts: ReceiptSigner;
  readonly log: StoreReader;
  readonly publisher: Publisher;
  readonly retention: Retention;
  /** For whom endpoints are considered: the caller, and the policy version in force at this moment. */
  standpointOf(admitted: Admitted): Standpoint;
  readonly health: Health;
  readonly metrics: Metrics;
  /** A new ULID. */
  newId(): string;
  readonly logger: Logger;
}
