import type { RejectedCandidate } from '../../shared/errors.ts';
import { unpinnedReason } from '../../shared/policy-in-force.ts';
import { graphOf } from '../../shared/policy-rules.ts';
import type { Api } from '../../shared/routes.ts';
import type { Zone } from '../../shared/zones.ts';
import { type Endpoint, modelOf } from '../endpoints/endpoint.ts';
import { everyEndpointHealthy } from '../health/snapshot.ts';
import type { LoadedPolicy } from './document.ts';
import { type Candidate, type PolicyRefusal, resolve } from './resolve.ts';
import type { CallerTeam } from './standing.ts';
import type { TenantRecord } from './tenants.ts';

/** Whom a row speaks of: every tenant of the policy that no other row names, or one that is narrowed further. */
export interface Subject {
  readonly tenant?: string;
  readonly team?: CallerTeam;
}

/**
 * Which endpoints can ever serve a workload for a subject over an API, in order, and why each other one that
 * speaks it cannot.
 */
export interface MatrixRow {
  readonly jurisdiction: Zone;
  readonly policy: LoadedPolicy;
  readonly subject: Subject;
  readonly workload: string;
  readonly api: Api;
  /** Why the workload is not pinned to the jurisdiction; missing where it is. */
  readonly unpinned?: string;
  readonly allowed: readonly Candidate[];
  readonly rejected: readonly RejectedCandidate[];
  /** Why every call is refused, where nothing is left. */
  readonly refusal?: PolicyRefusal['code'];
}

export interface MatrixInput {
  readonly jurisdiction: Zone;
  readonly registry: ReadonlyMap<string, Endpoint>;
  readonly policies: ReadonlyMap<string, LoadedPolicy>;
  readonly tenants: ReadonlyMap<string, TenantRecord>;
  /** Endpoints of which nothing can be told, as their entries have faults: workloads that name one have no row. */
  readonly inDoubt?: ReadonlySet<string>;
}

/** The whole matrix: jurisdiction × policy × workload × everyone whom an exception or lock treats differently. */
export const matrix = (input: MatrixInput): readonly MatrixRow[] =>
  [...input.policies.values()].flatMap((policy) => {
    const subjects = subjectsOf(policy, input.tenants);
    const certain = Object.entries(policy.document.workloads).filter(
      ([, { failover }]) => !graphOf(failover).some(({ endpoint }) => input.inDoubt?.has(endpoint)),
    );
    return certain.flatMap(([workload]) =>
      apisOf(policy, workload, input.registry).flatMap((api) =>
        subjects.map((subject) => row(input, policy, subject, workload, api)),
      ),
    );
  });

/** A tenant's name that no tenant can have: the row of all whom no exception names. */
const NOBODY_IN_PARTICULAR = '';

function subjectsOf(policy: LoadedPolicy, tenants: ReadonlyMap<string, TenantRecord>): readonly Subject[] {
  const declared = [...tenants.values()].filter((tenant) => tenant.policy === policy.name);
  const excepted = Object.keys(policy.document.tenants).map((tenant) => ({ tenant }));
  const locked = declared.flatMap(({ id, teams }) =>
    Object.entries(teams)
      .filter(([, team]) => team.allowed_regions !== undefined || team.workloads !== undefined)
      .map(([name, team]) => ({ tenant: id, team: { name, ...team } })),
  );
  return [{}, ...excepted, ...locked];
}

/**
 * The APIs by which a workload can be called: those of the graph's endpoints where it has a model. OpenAI's where
 * there is none, so that the row is there to be seen.
 */
function apisOf(
  { document }: LoadedPolicy,
  workload: string,
  registry: ReadonlyMap<string, Endpoint>,
): readonly Api[] {
  const failover = document.workloads[workload]?.failover;
  if (failover === undefined) return [];
  const spoken = graphOf(failover).flatMap(({ endpoint: id }) => {
    const endpoint = registry.get(id);
    return endpoint === undefined || modelOf(endpoint, workload) === undefined ? [] : [endpoint.api];
  });
  return spoken.length === 0 ? ['openai'] : [...new Set(spoken)];
}

function row(
  { jurisdiction, registry }: MatrixInput,
  policy: LoadedPolicy,
  subject: Subject,
  workload: string,
  api: Api,
): MatrixRow {
  const unpinned = unpinnedReason(policy, workload);
  const pinning = unpinned === undefined ? {} : { unpinned };
  const common = { jurisdiction, policy, subject, workload, api, ...pinning };
  const resolved = resolve({
    zone: jurisdiction,
    policy,
    tenant: subject.tenant ?? NOBODY_IN_PARTICULAR,
    team: subject.team,
    workload,
    api,
    registry,
    health: everyEndpointHealthy,
    now: 0,
  });
  const ofApi = (rejected: readonly RejectedCandidate[]) =>
    rejected.filter(({ endpoint }) => (registry.get(endpoint)?.api ?? api) === api);
  if (resolved.ok) {
    const { candidates: allowed, rejected } = resolved.value;
    return { ...common, allowed, rejected: ofApi(rejected) };
  }
  const { error } = resolved;
  const rejected = 'candidates' in error ? ofApi(error.candidates) : [];
  return { ...common, allowed: [], rejected, refusal: error.code };
}
