import type { Failover, Policy } from './policy.ts';
import { REGION_SOURCES, type RegionSource } from './record.ts';
import { COUNTRY_SETS, ZONE_COUNTRIES } from './zones.ts';

interface Broken {
  readonly path: (string | number)[];
  readonly message: string;
}

const isSet = (text: string): text is keyof typeof COUNTRY_SETS => Object.hasOwn(COUNTRY_SETS, text);

/** The countries that a list of ISO codes and named sets (`EU`, `EEA`) stands for. */
export const countriesOf = (list: readonly string[]): ReadonlySet<string> =>
  new Set(list.flatMap((entry): readonly string[] => (isSet(entry) ? COUNTRY_SETS[entry] : [entry])));

/** One endpoint of a failover graph: its place in words, and its path inside `failover`. */
export interface GraphStep {
  readonly endpoint: string;
  readonly role: string;
  readonly path: readonly (string | number)[];
}

/** The endpoints of a graph in the order in which they are tried. */
export function graphOf(failover: Failover): readonly GraphStep[] {
  const place = (endpoint: string, role: string, path: GraphStep['path']) => ({ endpoint, role, path });
  return [
    place(failover.primary, 'primary', ['primary']),
    ...failover.secondary.map((id, index) => place(id, `secondary ${index + 1}`, ['secondary', index])),
    ...(failover.last_resort === undefined
      ? []
      : [place(failover.last_resort, 'last resort', ['last_resort'])]),
  ];
}

/** Everything wrong with a policy of the right form, for which nothing but the policy itself is needed. */
export const checkPolicy = (policy: Policy): readonly Broken[] => [
  ...fourEyes(policy),
  ...countriesInZone(policy),
  ...noGlobal(policy),
  ...graphsNameEachOnce(policy),
  ...exceptionsNarrow(policy),
];

function fourEyes({ author, reviewer }: Policy): Broken[] {
  if (author.toLowerCase() !== reviewer.toLowerCase()) return [];
  return [{ path: ['reviewer'], message: 'is the author: another person must review the policy' }];
}

function countriesInZone({ jurisdiction, allow }: Policy): Broken[] {
  const zone: readonly string[] = ZONE_COUNTRIES[jurisdiction];
  return allow.countries.flatMap((entry, index) => {
    const outside = [...countriesOf([entry])].filter((country) => !zone.includes(country));
    if (outside.length === 0) return [];
    const hint = entry === 'UK' ? ' (the ISO code of the United Kingdom is GB)' : '';
    return [
      { path: ['allow', 'countries', index], message: `${entry} is not in the zone ${jurisdiction}${hint}` },
    ];
  });
}

function noGlobal({ allow }: Policy): Broken[] {
  const index = allow.deployments.indexOf('global');
  if (index === -1) return [];
  const message = 'global deployments run anywhere in the world, so no zone can allow them';
  return [{ path: ['allow', 'deployments', index], message }];
}

function graphsNameEachOnce({ workloads }: Policy): Broken[] {
  return Object.entries(workloads).flatMap(([workload, { failover }]) => {
    const graph = graphOf(failover);
    return graph
      .filter((step, index) => graph.findIndex(({ endpoint }) => endpoint === step.endpoint) < index)
      .map(({ endpoint, path }) => ({
        path: ['workloads', workload, 'failover', ...path],
        message: `the endpoint ${endpoint} stands in this graph twice`,
      }));
  });
}

function exceptionsNarrow(policy: Policy): Broken[] {
  return Object.entries(policy.tenants).flatMap(([tenant, { allow, workloads }]) => {
    const beyond = (member: string, list: readonly string[] | undefined, within: readonly string[]) =>
      (list ?? [])
        .filter((entry) => !within.includes(entry))
        .map((entry) => ({
          path: ['tenants', tenant, ...member.split('.')],
          message: `${entry} is not allowed by the policy itself: an exception can only narrow`,
        }));
    const limited = (list: readonly string[], own: readonly string[] | undefined) =>
      list.length === 0 ? (own ?? []) : list;
    return [
      ...beyond(
        'allow.countries',
        [...countriesOf(allow.countries ?? [])],
        [...countriesOf(policy.allow.countries)],
      ),
      ...beyond('allow.regions', allow.regions, limited(policy.allow.regions, allow.regions)),
      ...beyond('allow.deployments', allow.deployments, policy.allow.deployments),
      ...beyond('allow.models', allow.models, limited(policy.allow.models, allow.models)),
      ...beyond('workloads', workloads, Object.keys(policy.workloads)),
      ...weakerEvidence(policy, tenant),
    ];
  });
}

function weakerEvidence(policy: Policy, tenant: string): Broken[] {
  const grade = policy.tenants[tenant]?.allow.region_evidence;
  if (grade === undefined || gradeMeets(grade, policy.allow.region_evidence)) return [];
  const message = `is weaker than the policy's ${policy.allow.region_evidence}: an exception can only narrow`;
  return [{ path: ['tenants', tenant, 'allow', 'region_evidence'], message }];
}

/** Whether evidence of one grade is at least as good as another. */
export const gradeMeets = (grade: RegionSource, needed: RegionSource): boolean =>
  REGION_SOURCES.indexOf(grade) <= REGION_SOURCES.indexOf(needed);
