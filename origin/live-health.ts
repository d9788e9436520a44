import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import type { Policy } from '../shared/policy.ts';
import type { Ledger } from './audit/ledger.ts';
import type { RecordMaker } from './audit/records.ts';
import { unreleasedViolations, type ViolationLog } from './audit/violations.ts';
import type { Clock } from './clock.ts';
import type { OriginConfig } from './config.ts';
import { type Endpoint, modelOf } from './endpoints/endpoint.ts';
import type { Pools } from './forward/pools.ts';
import { probeCall } from './forward/probe-call.ts';
import type { Circuit } from './health/circuit.ts';
import { type Health, startHealth } from './health/health.ts';
import type { CircuitShelf } from './health/keeper.ts';
import type { ProbeResult } from './health/probe.ts';
import type { MayServe, ProbeTarget } from './health/probe-plan.ts';
import type { Change } from './health/standings.ts';
import type { Counts } from './metrics/metrics.ts';
import type { LoadedPolicy } from './policy/document.ts';
import { lastingRejection, type Standpoint } from './policy/standing.ts';

/** Steps of a random number between 0 and 1. */
const STEPS = 2 ** 32;

export interface LiveHealthSetup {
  readonly config: OriginConfig;
  readonly clock: Clock;
  readonly store: CircuitShelf & ViolationLog;
  readonly pools: Pools;
  readonly ledger: Ledger;
  readonly records: RecordMaker;
  readonly logger: Logger;
  readonly counts: Counts;
  /** Evenly from 0 up to 1; seeded where a run has to be repeatable. */
  readonly random?: () => number;
}

const anyNumber = (): number => randomInt(STEPS - 1) / STEPS;

/** The health of an origin's endpoints, probed under its policies; what a person should know of it is on record. */
export async function startLiveHealth(setup: LiveHealthSetup): Promise<Health> {
  const { config, clock, store, pools, logger, random = anyNumber } = setup;
  const policies = [...config.policies.values()];
  const standpoints = (target: ProbeTarget) =>
    policies.map((policy) => forNobody(config, policy)).filter((one) => names(one, target));
  const unreleased = await unreleasedViolations(store);
  return await startHealth(
    policies.map(({ document }) => document),
    {
      clock,
      shelf: store,
      unreleased,
      call: probeCall({ pools, registry: config.registry, standpoints }),
      mayServe: mayServe(config, policies),
      random,
      events: {
        changed: (change) => circuitChanged(setup, change),
        probed: (target, result) => probed(setup, target, result),
        notKept: () => logger.error('the state of the circuits could not be kept; it is tried again'),
      },
    },
  );
}

/** A policy as it applies to every tenant and team alike, which is how a probe goes by it. */
const forNobody = ({ jurisdiction: zone }: OriginConfig, policy: LoadedPolicy): Standpoint => ({
  zone,
  policy,
  tenant: '',
  team: undefined,
});

const names = ({ policy: { document } }: Standpoint, { workload }: ProbeTarget): boolean =>
  Object.hasOwn(document.workloads, workload);

function mayServe(config: OriginConfig, policies: readonly LoadedPolicy[]): MayServe {
  const loaded = new Map<Policy, LoadedPolicy>(policies.map((policy) => [policy.document, policy]));
  return (id, workload, document) => {
    const endpoint = config.registry.get(id);
    const policy = loaded.get(document);
    const model = endpoint && modelOf(endpoint, workload);
    if (endpoint === undefined || policy === undefined || model === undefined) return undefined;
    if (lastingRejection(endpoint, workload, forNobody(config, policy)) !== undefined) return undefined;
    const { api, probeTokens: tokens } = endpoint;
    return { api, model, tokensMember: tokensMember(endpoint), ...(tokens !== undefined && { tokens }) };
  };
}

/** OpenAI's own reasoning models know the newer name alone; other engines may know the older one alone. */
const tokensMember = ({ provider }: Endpoint) =>
  provider === 'openai' || provider === 'azure-openai' ? 'max_completion_tokens' : 'max_tokens';

function circuitChanged(setup: LiveHealthSetup, change: Change): void {
  const { config, clock, ledger, records, logger } = setup;
  const [from, to] = [change.before.circuit, change.after.circuit];
  if (from.kind === to.kind) return;
  const why = 'why' in to ? to.why : END_OF[from.kind];
  logger.warn({ endpoint: change.endpoint, from: from.kind, to: to.kind, why }, 'a circuit changed');
  if (!isNews(to) || wasOrdered(from, to, clock.now())) return;
  const facts = { endpoint: change.endpoint, actor: 'gateway' };
  const selection_reason = `circuit ${from.kind} to ${to.kind}: ${why}`.slice(0, 512);
  void ledger.append(
    records.make('control', { jurisdiction: config.jurisdiction, ...facts, selection_reason }),
  );
}

/** Why a state has ended that another without words of its own follows. */
const END_OF: Readonly<Record<Circuit['kind'], string>> = {
  closed: 'it was closed',
  open: 'its rest is over',
  half_open: 'its probe succeeded',
  forced_open: 'the order over it has ended',
  forced_closed: 'the order over it has ended',
  quarantined: 'a person has released it',
};

/** Half open is a step on the way, and would only repeat what the log holds already. */
const isNews = ({ kind }: Circuit): boolean => kind !== 'half_open';

/** What a person has ordered is on record already, with who and why, before it is done. */
function wasOrdered(from: Circuit, to: Circuit, now: number): boolean {
  switch (to.kind) {
    case 'forced_open':
    case 'forced_closed':
      return true;
    case 'quarantined':
      return false;
    case 'closed':
    case 'open':
    case 'half_open':
      // An order that is taken back before its time.
      return 'by' in from && now < (from.until ?? Number.POSITIVE_INFINITY);
  }
}

function probed(setup: LiveHealthSetup, target: ProbeTarget, result: ProbeResult): void {
  const { config, ledger, records, logger, counts } = setup;
  const { evidence, refused } = result;
  const { endpoint, workload } = target;
  counts.probed(endpoint, result);
  if (refused !== undefined) logger.warn({ endpoint, status: refused }, 'a probe was refused as such');
  if (evidence === undefined) return;
  const { region: serving_region, source: region_source } = evidence;
  logger.error({ endpoint, ...evidence }, 'region violation at a probe: the endpoint is quarantined');
  const observed = { endpoint, workload, serving_region, region_source, actor: 'gateway' } as const;
  const verdict = { region_verdict: 'mismatch', code: 'region_violation' } as const;
  void ledger.append(
    records.make('violation', { jurisdiction: config.jurisdiction, ...observed, ...verdict }),
  );
}
