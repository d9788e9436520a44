import type { Layer } from './narrowing.ts';
import { type Pack, packLabel } from './pack.ts';
import type { Policy, Workload } from './policy.ts';
import { gradeMeets } from './policy-rules.ts';
import type { RegionSource } from './record.ts';
import type { Zone } from './zones.ts';

/** A policy with the packs that it names: what is allowed is what it and each of them allow. */
export interface PolicyInForce {
  /** As it is written. */
  readonly document: Policy;
  /** In the order in which the document names them. */
  readonly packs: readonly Pack[];
}

/** A policy as people write it: `eu-support@1.0.0`. */
export const policyLabel = ({ policy, version }: Policy): `${string}@${string}` => `${policy}@${version}`;

/** The workload of that name, or undefined where the policy has none. */
export const workloadOf = ({ workloads }: Policy, name: string): Workload | undefined =>
  Object.hasOwn(workloads, name) ? workloads[name] : undefined;

/** Why a workload is not pinned to its zone; undefined where it is, as always under a pack that forbids it. */
export function unpinnedReason({ document, packs }: PolicyInForce, workload: string): string | undefined {
  const { pinned = true, reason } = workloadOf(document, workload) ?? {};
  return pinned || packs.some((pack) => pack.forbid_unpinned) ? undefined : reason;
}

/** The exception of a tenant, if the policy has one. */
export const exceptionOf = ({ document }: PolicyInForce, tenant: string) =>
  Object.hasOwn(document.tenants, tenant) ? document.tenants[tenant] : undefined;

/** What the policy and its packs take away. A tenant's exception is not among it. */
export const layersOf = ({ document, packs }: PolicyInForce): readonly Layer[] => [
  { by: `policy ${policyLabel(document)}`, allow: document.allow },
  ...packs.map((pack) => ({ by: `the pack ${packLabel(pack)}`, allow: pack.allow })),
];

/** What the tenant's exception takes away, if the policy has one. */
export function exceptionLayer(policy: PolicyInForce, tenant: string): Layer | undefined {
  const exception = exceptionOf(policy, tenant);
  return exception && { by: `the exception of tenant ${tenant}`, allow: exception.allow };
}

/** A policy or a pack of another zone says nothing of this one, so nothing is allowed by it; says which it is. */
export function foreignPolicy({ document, packs }: PolicyInForce, zone: Zone): string | undefined {
  if (document.jurisdiction !== zone) return `policy ${policyLabel(document)} is not of the zone ${zone}`;
  const foreign = packs.find(({ jurisdiction }) => jurisdiction !== zone);
  return foreign && `the pack ${packLabel(foreign)} is not of the zone ${zone}`;
}

/** Whether a grade is as good as the policy, its packs and the tenant's exception ask for. */
export function showsEnough(grade: RegionSource | undefined, policy: PolicyInForce, tenant: string): boolean {
  const layers = [...layersOf(policy), exceptionLayer(policy, tenant)];
  return layers.every((layer) => {
    // `declared` is the weakest grade, and asks for nothing.
    const asked = layer?.allow.region_evidence ?? 'declared';
    return asked === 'declared' || (grade !== undefined && gradeMeets(grade, asked));
  });
}
