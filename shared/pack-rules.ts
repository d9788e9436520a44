import { type Pack, packLabel } from './pack.ts';
import type { Allow, Narrowing, Policy } from './policy.ts';
import { type Broken, countriesOf, exceptionsNarrow } from './policy-rules.ts';
import { REGION_SOURCES } from './record.ts';

/**
 * A policy whose `allow` is what it and all its packs allow: the intersection of each list, and the strictest
 * grade of evidence. Only for a policy in which `checkPolicy` finds nothing: an empty list would mean no limit.
 */
export function withinPacks(policy: Policy, packs: readonly Pack[]): Policy {
  const allow = packs.reduce((so_far, pack) => narrowed(so_far, pack.allow), {
    ...policy.allow,
    countries: [...countriesOf(policy.allow.countries)],
  });
  return { ...policy, allow };
}

function narrowed(allow: Allow, by: Narrowing): Allow {
  const grades = [allow.region_evidence, by.region_evidence ?? allow.region_evidence];
  return {
    countries: both(allow.countries, by.countries && [...countriesOf(by.countries)]),
    regions: both(allow.regions, by.regions),
    deployments: both(allow.deployments, by.deployments),
    models: both(allow.models, by.models),
    region_evidence: REGION_SOURCES.find((grade) => grades.includes(grade)) ?? allow.region_evidence,
  };
}

/** What two lists allow, of which an empty or missing one sets no limit. */
function both<T extends string>(one: readonly T[], other: readonly T[] = []): T[] {
  if (one.length === 0) return [...other];
  return other.length === 0 ? [...one] : one.filter((entry) => other.includes(entry));
}

/**
 * How many days records are kept at least: the longest that the policy or a pack asks for. Undefined where the
 * policy names no number: then they are kept for ever, which is longer than any pack asks.
 */
export const retentionOf = ({ retention_days: own }: Policy, packs: readonly Pack[]): number | undefined =>
  own === undefined ? undefined : Math.max(own, ...packs.flatMap((pack) => pack.retention_days ?? []));

/** Everything in a policy that contradicts the packs it names, each with its path in the policy. */
export function checkPacks(policy: Policy, packs: readonly Pack[]): readonly Broken[] {
  const own = packs.filter(({ jurisdiction }) => jurisdiction === policy.jurisdiction);
  return [
    ...foreign(policy, packs),
    ...named(policy),
    ...contradictions(policy, own),
    ...unapproved(policy, own),
    ...unpinned(policy, own),
    ...own.flatMap((pack) => exceptionsNarrow(policy, pack.allow, `the pack ${packLabel(pack)}`)),
  ];
}

const foreign = ({ jurisdiction, packs: names }: Policy, packs: readonly Pack[]): Broken[] =>
  packs
    .filter((pack) => pack.jurisdiction !== jurisdiction)
    .map((pack) => ({
      path: ['packs', names.indexOf(pack.pack)],
      message: `the pack ${pack.pack} is of the zone ${pack.jurisdiction}, the policy of ${jurisdiction}`,
    }));

const named = ({ packs }: Policy): Broken[] =>
  packs.flatMap((name, index) =>
    packs.indexOf(name) === index
      ? []
      : [{ path: ['packs', index], message: `the pack ${name} stands here twice` }],
  );

const LISTS = ['countries', 'regions', 'deployments', 'models'] as const;

/** Lists of which a pack leaves nothing. An empty list would mean no limit, so this must never pass. */
function contradictions(policy: Policy, packs: readonly Pack[]): Broken[] {
  return LISTS.flatMap((list) => {
    const culprit = packs.find((pack, index) => {
      const { allow } = withinPacks(policy, packs.slice(0, index));
      return allow[list].length > 0 && narrowed(allow, pack.allow)[list].length === 0;
    });
    if (culprit === undefined) return [];
    const message = `nothing is left: the pack ${packLabel(culprit)} allows none of what is allowed without it`;
    return [{ path: ['allow', list], message }];
  });
}

function unapproved(policy: Policy, packs: readonly Pack[]): Broken[] {
  const demanding = packs.find((pack) => pack.require_approved_models);
  if (demanding === undefined || policy.allow.models.length > 0) return [];
  const message = `is empty: the pack ${packLabel(demanding)} asks for the list of models approved for use`;
  return [{ path: ['allow', 'models'], message }];
}

function unpinned({ workloads }: Policy, packs: readonly Pack[]): Broken[] {
  const forbidding = packs.find((pack) => pack.forbid_unpinned);
  if (forbidding === undefined) return [];
  return Object.entries(workloads)
    .filter(([, { pinned }]) => !pinned)
    .map(([workload]) => ({
      path: ['workloads', workload, 'pinned'],
      message: `the pack ${packLabel(forbidding)} forbids workloads that are not pinned`,
    }));
}
