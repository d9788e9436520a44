import { describe, expect, it } from 'vitest';
import { inspect } from '../../edge/inspect.ts';
import { lookUp } from '../../edge/lookup.ts';
import type { HealthSnapshot } from '../../origin/health/snapshot.ts';
import { matrix } from '../../origin/policy/matrix.ts';
import { type ResolveInput, resolve } from '../../origin/policy/resolve.ts';
import type { Api } from '../../shared/routes.ts';
import { ZONES, type Zone } from '../../shared/zones.ts';
import { allowedIds, type Caller, type Written, writtenPolicies } from './allowed.ts';
import { CONFIGURATIONS, type Configuration } from './configurations.ts';

type Input = Omit<ResolveInput, 'health' | 'now'>;

/** One cell of the matrix: the question as the program is asked it, and the endpoints that the documents allow. */
interface Cell {
  readonly input: Input;
  readonly allowed: readonly string[];
  /** Ids of the whole graph, which all may be up or down. */
  readonly graph: readonly string[];
}

const APIS: readonly Api[] = ['openai', 'anthropic'];

function cellsOf({ config }: Configuration): readonly Cell[] {
  const endpoints = [...config.registry.values()];
  return writtenPolicies(config.file).flatMap((policy) =>
    Object.keys(policy.workloads).flatMap((workload) =>
      callersOf(policy, config).flatMap((caller) =>
        APIS.map((api) => {
          const loaded = config.policies.get(policy.policy);
          if (loaded === undefined) throw new Error(`${policy.policy} is not loaded`);
          const team = caller.team && { name: 'team', ...caller.team };
          const input = {
            zone: config.jurisdiction,
            policy: loaded,
            tenant: caller.tenant,
            team,
            workload,
            api,
          };
          const speaking = endpoints.filter((one) => one.api === api);
          return {
            input: { ...input, registry: config.registry },
            allowed: allowedIds(policy, config.jurisdiction, workload, caller, speaking),
            graph: endpoints.map(({ id }) => id),
          };
        }),
      ),
    ),
  );
}

/** Everyone whom the documents can tell apart: nobody in particular, each exception, each team of each tenant. */
function callersOf(policy: Written, { tenants }: Configuration['config']): readonly Caller[] {
  const declared = [...tenants.values()].flatMap(({ id, teams }) =>
    Object.values(teams).map((team) => ({ tenant: id, team })),
  );
  const names = ['anybody', ...Object.keys(policy.tenants), ...tenants.keys()];
  return [...names.map((tenant) => ({ tenant })), ...declared];
}

/** Every state of health: each set of endpoints may be down. */
function* healths(
  graph: readonly string[],
): Generator<{ isUp: (id: string) => boolean; health: HealthSnapshot }> {
  for (let mask = 0; mask < 2 ** graph.length; mask += 1) {
    const down = new Set(graph.filter((_, index) => (mask & (1 << index)) !== 0));
    const isUp = (id: string) => !down.has(id);
    const health: HealthSnapshot = {
      of: (id) => (isUp(id) ? { usable: true } : { usable: false, why: 'down', retryAt: 1 }),
    };
    yield { isUp, health };
  }
}

const candidatesOf = (resolved: ReturnType<typeof resolve>): readonly string[] =>
  resolved.ok ? resolved.value.candidates.map(({ endpoint }) => endpoint.id) : [];

/** The endpoints that a call touches whose first so many attempts fail. */
const touched = (candidates: readonly string[], failures: number): readonly string[] =>
  candidates.slice(0, failures + 1);

const nameOf = ({ input: { policy, workload, tenant, team, api } }: Cell): string =>
  `${policy.label} ${workload} ${api} ${tenant} ${JSON.stringify(team ?? {})}`;

describe.each(CONFIGURATIONS)('$name', (configuration) => {
  const { config } = configuration;
  const cells = cellsOf(configuration);

  it('reaches exactly the endpoints that its documents allow, over all states of health and failures', () => {
    for (const cell of cells) {
      const reached = new Set<string>();
      for (const { isUp, health } of healths(cell.graph)) {
        const candidates = candidatesOf(resolve({ ...cell.input, health, now: 0 }));
        const expected = cell.allowed.filter(isUp);
        if (candidates.join() !== expected.join())
          expect([nameOf(cell), candidates]).toEqual([nameOf(cell), expected]);
        for (let failures = 0; failures <= candidates.length; failures += 1) {
          for (const id of touched(candidates, failures)) reached.add(id);
        }
      }
      expect([nameOf(cell), [...reached].sort()]).toEqual([nameOf(cell), [...cell.allowed].sort()]);
    }
  });

  it('refuses for now when all that is allowed is down, and for good when nothing is allowed', () => {
    const health: HealthSnapshot = { of: () => ({ usable: false, why: 'down', retryAt: 1 }) };
    for (const { input, allowed } of cells) {
      const refused = resolve({ ...input, health, now: 0 });
      const code = refused.ok ? 'served' : refused.error.code;
      if (allowed.length > 0) expect(code).toBe('no_compliant_endpoint');
      else expect(['region_blocked', 'model_not_allowed', 'workload_unknown']).toContain(code);
    }
  });

  it('serves nothing at the origin of any other zone, were it asked', () => {
    const health: HealthSnapshot = { of: () => ({ usable: true }) };
    for (const { input } of cells) {
      for (const zone of ZONES.filter((other) => other !== config.jurisdiction)) {
        expect(candidatesOf(resolve({ ...input, zone, health, now: 0 }))).toEqual([]);
      }
    }
  });

  it('is printed by residency check as it is', () => {
    for (const { policy, subject, workload, api, allowed } of matrix(config)) {
      const cell = cells.find(
        ({ input }) =>
          input.policy === policy &&
          input.workload === workload &&
          input.api === api &&
          input.tenant === (subject.tenant ?? 'anybody') &&
          JSON.stringify({ ...input.team, name: '' }) === JSON.stringify({ ...subject.team, name: '' }),
      );
      expect(allowed.map(({ endpoint }) => endpoint.id)).toEqual(cell?.allowed);
    }
  });

  it('lets no tenant past the edge without its tag, or with the tag of another zone', async () => {
    for (const { id, jurisdiction } of config.tenants.values()) {
      expect(await atTheEdge(id, jurisdiction, undefined)).toBe('jurisdiction_missing');
      expect(await atTheEdge(id, jurisdiction, '')).toBe('jurisdiction_missing');
      for (const zone of ZONES) {
        const expected = zone === jurisdiction ? `pinned to ${jurisdiction}` : 'jurisdiction_mismatch';
        expect(await atTheEdge(id, jurisdiction, zone)).toBe(expected);
      }
    }
  });
});

describe('the matrix', () => {
  it('has cells of every kind: served, refused, of one, of a few and of many endpoints', () => {
    const sizes = new Set(CONFIGURATIONS.flatMap(cellsOf).map(({ allowed }) => allowed.length));
    expect([...sizes].sort()).toEqual(expect.arrayContaining([0, 1, 2, 3]));
  });
});

/** What the edge decides of a call of a tenant from its headers and its entry in KV. */
async function atTheEdge(tenant: string, home: Zone, tag: string | undefined): Promise<string> {
  const headers = new Headers({ authorization: `Bearer rgk_${tenant}_${'s'.repeat(43)}` });
  if (tag !== undefined) headers.set('x-jurisdiction', tag);
  const claim = inspect((name) => headers.get(name));
  if (!claim.ok) return claim.error.refusal.code;
  const entry = JSON.stringify({ jurisdiction: home, state: 'active', version: 1 });
  const found = await lookUp(claim.value, 'edge.example', {
    tenants: { get: async (key) => (key === `tenant:${tenant}` ? entry : null) },
    origins: {},
    unattributedHome: 'eu',
    zoneHosts: {},
    pepper: undefined,
    signingKey: { key: new Uint8Array(), kid: 'none' },
  });
  return found.ok ? `pinned to ${found.value.zone}` : found.error.refusal.code;
}
