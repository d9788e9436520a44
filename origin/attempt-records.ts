import { type ErrorCode, type Refusal, type RejectedCandidate, statusOf } from '../shared/errors.ts';
import { type AuditRecord, END_KINDS } from '../shared/record.ts';
import type { Call } from './admit/call.ts';
import type { Appended } from './audit/ledger.ts';
import type { Facts } from './audit/records.ts';
import type { Endpoint } from './endpoints/endpoint.ts';
import type { Gateway } from './gateway.ts';
import type { Candidate } from './policy/resolve.ts';

/** Characters of a reason at most, as the record bounds them. */
const REASON_CHARS = 512;

/** The records of one attempt: its `pending`, and what it came to. */
export class AttemptRecords {
  readonly candidate: Candidate;
  readonly number: number;
  readonly #startedAt: number;
  readonly #gateway: Gateway;
  readonly #common: Facts;
  readonly #pending: AuditRecord;
  #ended = false;

  constructor(
    gateway: Gateway,
    call: Call,
    candidate: Candidate,
    number: number,
    rejected: readonly RejectedCandidate[],
  ) {
    this.candidate = candidate;
    this.number = number;
    this.#startedAt = gateway.clock.monotonic();
    this.#gateway = gateway;
    this.#common = {
      ...call.facts,
      ...endpointFacts(candidate.endpoint),
      model: candidate.model,
      attempt: number,
    };
    this.#pending = gateway.records.make('pending', {
      ...this.#common,
      candidates: [...rejected],
      selection_reason: candidate.reason.slice(0, REASON_CHARS),
    });
  }

  get workload(): string {
    return this.#common.workload ?? '';
  }

  get requestBytes(): number {
    return this.#common.request_bytes ?? 0;
  }

  /** Whether the `pending` has its end; it gets one and no second. */
  get ended(): boolean {
    return this.#ended;
  }

  get endpoint(): Endpoint {
    return this.candidate.endpoint;
  }

  /** Writes the `pending`; nothing is forwarded where this does not come back durable. */
  async pending(): Promise<boolean> {
    return (await this.#gateway.ledger.append(this.#pending)).ok;
  }

  /** Writes what the attempt came to. The ledger goes on trying to keep it where it cannot do so at once. */
  async append(
    kind: AuditRecord['kind'],
    facts: Partial<Facts>,
  ): Promise<{ record: AuditRecord; kept: Appended }> {
    const record = this.#gateway.records.make(kind, {
      ...this.#common,
      pending_id: this.#pending.id,
      latency_ms: Math.round(this.#gateway.clock.monotonic() - this.#startedAt),
      ...facts,
    });
    const kept = await this.#gateway.ledger.append(record);
    if (END_KINDS.some((end) => end === kind)) this.#ended = true;
    return { record, kept };
  }
}

/** Does work on an attempt; where that breaks, its `pending` still gets an end before the call is given up. */
export async function endedOnRecord<T>(
  call: Call,
  records: AttemptRecords,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    call.stop('gateway');
    const kind = call.outgoing.headersSent ? 'interrupted' : 'failed';
    if (!records.ended) await records.append(kind, { actor: 'gateway' });
    throw cause;
  }
}

/** The facts of what the caller was told. */
export function toldFacts(refusal: Refusal): {
  code: ErrorCode;
  status: number;
  candidates?: RejectedCandidate[];
} {
  return {
    code: refusal.code,
    status: statusOf(refusal),
    ...('candidates' in refusal && { candidates: [...refusal.candidates] }),
  };
}

const endpointFacts = (endpoint: Endpoint): Partial<Facts> => ({
  endpoint: endpoint.id,
  provider: endpoint.provider,
  deployment: endpoint.deployment,
  ...(endpoint.region !== undefined && { provider_region: endpoint.region }),
  ...(endpoint.facility !== undefined && { facility: endpoint.facility }),
});
