import { hash } from 'node:crypto';
import type { StoredRow } from '../../origin/store/store.ts';
import type { AuditRecord } from '../../shared/record.ts';
import { aRow } from '../support/audit-records.ts';

const FACTS: Partial<AuditRecord> = {
  attempt: 1,
  tenant: 'acme',
  key_id: 'main',
  jurisdiction_claimed: 'eu',
  route: '/v1/chat/completions',
  workload: 'support-chat',
  class: 'large',
  policy: 'eu-support',
  policy_version: '1.0.0',
  policy_sha256: hash('sha256', 'eu-support'),
  endpoint: 'fra',
  provider: 'bedrock',
  provider_region: 'eu-central-1',
  deployment: 'regional',
  model: 'vendor.large-20260101',
  request_bytes: 2_048,
  colo: 'FRA',
};

const OBSERVED: Partial<AuditRecord> = {
  serving_region: 'eu-central-1',
  region_source: 'response_header',
  region_verdict: 'match',
  upstream_status: 200,
  streamed: true,
  ttft_ms: 180,
};

/** The rows of one answered call after the other, of the size that an origin writes. */
export class CallRows {
  readonly #ready: StoredRow[] = [];
  #calls = 0;

  take(count: number): StoredRow[] {
    while (this.#ready.length < count) this.#ready.push(...this.#call());
    return this.#ready.splice(0, count);
  }

  #call(): StoredRow[] {
    this.#calls += 1;
    const facts = { ...FACTS, request_id: `call-${this.#calls}` };
    const pending = aRow('pending', facts);
    const answered = { ...facts, pending_id: pending.id, ...OBSERVED };
    const totals = { status: 200, latency_ms: 2_400, response_bytes: 9_000, output_tokens: 700 };
    return [pending, aRow('served', answered), aRow('completed', { ...answered, ...totals })];
  }
}
