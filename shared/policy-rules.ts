import { personKey } from './person.ts';
import type { Failover, Narrowing, Policy } from './policy.ts';
import { REGION_SOURCES, type RegionSource } from './record.ts';
import { COUNTRY_SETS, ZONE_COUNTRIES } from './zones.ts';

/** Something wrong with a policy: the member, and what to do. */
export interface Broken {
  readonly path: readonly (string | number)[];
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

/** What is wrong with single members, whatever optional ones the others leave out. */
export const checkMembers = (policy: Policy): readonly Broken[] => [
  ...fourEyes(policy),
  ...countriesInZone(policy),
  ...noGlobal(policy),
  ...graphsNameEachOnce(policy),
];

/** Everything wrong with a policy of the right form, for which nothing but the policy itself is needed. */
export const checkPolicy = (policy: Policy): readonly Broken[] => [
  ...checkMembers(policy),
  ...unpinnedSayWhy(policy),
  ...exceptionsNarrow(policy, policy.allow, 'the policy'),
  ...exceptionsNameWorkloads(policy),
];

function fourEyes({ author, reviewer }: Policy): Broken[] {
  if (personKey(author) !== personKey(reviewer)) return [];
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

function unpinnedSayWhy({ workloads }: Policy): Broken[] {
  return Object.entries(workloads).flatMap(([workload, { pinned, reason }]) => {
    if (pinned === (reason === undefined)) return [];
    return pinned
      ? [
          {
            path: ['workloads', workload, 'reason'],
            message: 'is there for workloads with pinned: false only',
          },
        ]
      : [{ path: ['workloads', workload], message: 'is not pinned: say in "reason" why it need not be' }];
  });
}

/** Where exceptions allow what the policy, or a pack that it names, does not. */
export const exceptionsNarrow = ({ tenants }: Policy, limits: Narrowing, by: string): readonly Broken[] =>
  Object.entries(tenants).flatMap(([tenant, { allow }]) => {
    const broken = (member: string, message: string): Broken => ({
      path: ['tenants', tenant, 'allow', member],
      message: `${message}: an exception can only narrow`,
    });
    const beyond = (member: string, list: readonly string[] = [], within: readonly string[] = []) =>
      list
        .filter((entry) => within.length > 0 && !within.includes(entry))
        .map((entry) => broken(member, `${entry} is not allowed by ${by} itself`));
    const { region_evidence: grade } = allow;
    const needed = limits.region_evidence;
    const weaker = grade !== undefined && needed !== undefined && !gradeMeets(grade, needed);
    return [
      ...beyond(
        'countries',
        [...countriesOf(allow.countries ?? [])],
        [...countriesOf(limits.countries ?? [])],
      ),
      ...beyond('regions', allow.regions, limits.regions),
      ...beyond('deployments', allow.deployments, limits.deployments),
      ...beyond('models', allow.models, limits.models),
      ...(weaker ? [broken('region_evidence', `is weaker than ${by}'s ${needed}`)] : []),
    ];
  });

const exceptionsNameWorkloads = ({ tenants, workloads: known }: Policy): Broken[] =>
  Object.entries(tenants).flatMap(([tenant, { workloads = [] }]) =>
    workloads
      .filter((workload) => !Object.hasOwn(known, workload))
      .map((workload) => ({
        path: ['tenants', tenant, 'workloads'],
        message: `${workload} is not a workload of the policy`,
      })),
  );

/** Whether evidence of one grade is at least as good as another. */
export const gradeMeets = (grade: RegionSource, needed: RegionSource): boolean =>
  REGION_SOURCES.indexOf(grade) <= REGION_SOURCES.indexOf(needed);
