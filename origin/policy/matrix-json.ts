import { packLabel } from '../../shared/pack.ts';
import type { MatrixRow } from './matrix.ts';

/** One row of the matrix as programs read it. */
export const rowJson = ({ policy, subject, allowed, ...row }: MatrixRow) => ({
  jurisdiction: row.jurisdiction,
  policy: policy.label,
  packs: policy.packs.map(packLabel),
  workload: row.workload,
  api: row.api,
  tenant: subject.tenant ?? null,
  team: subject.team?.name ?? null,
  unpinned: row.unpinned ?? null,
  allowed: allowed.map(({ endpoint, model }) => ({
    endpoint: endpoint.id,
    provider: endpoint.provider,
    region: endpoint.region ?? null,
    country: endpoint.country ?? null,
    deployment: endpoint.deployment,
    model,
  })),
  rejected: row.rejected,
  refusal: row.refusal ?? null,
});
