import { type AuditRecord, RECORD_VERSION } from '../../shared/record.ts';

/** What is known of the end of a call that nobody else will end. */
export type Ending = Pick<AuditRecord, 'id' | 'at'> &
  ({ readonly kind: 'abandoned' } | { readonly kind: 'failed'; readonly code: 'ledger_unavailable' });

/** The record that ends a `pending`: it says again which call that was, so that it can be read by itself. */
export function endingOf(pending: AuditRecord, ending: Ending): AuditRecord {
  return {
    v: RECORD_VERSION,
    ...ending,
    pending_id: pending.id,
    request_id: pending.request_id,
    attempt: pending.attempt,
    tenant: pending.tenant,
    team: pending.team,
    key_id: pending.key_id,
    jurisdiction_claimed: pending.jurisdiction_claimed,
    jurisdiction: pending.jurisdiction,
    route: pending.route,
    workload: pending.workload,
    class: pending.class,
    policy: pending.policy,
    policy_version: pending.policy_version,
    policy_sha256: pending.policy_sha256,
    endpoint: pending.endpoint,
    provider: pending.provider,
    provider_region: pending.provider_region,
    facility: pending.facility,
    deployment: pending.deployment,
    model: pending.model,
    streamed: pending.streamed,
    idempotency_key_sha256: pending.idempotency_key_sha256,
    colo: pending.colo,
  };
}
