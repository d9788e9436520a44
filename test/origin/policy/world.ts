import type { Endpoint } from '../../../origin/endpoints/endpoint.ts';
import { everyEndpointHealthy, type HealthSnapshot } from '../../../origin/health/snapshot.ts';
import { type LoadedPolicy, loadedPolicy } from '../../../origin/policy/document.ts';
import { type ResolveInput, resolve } from '../../../origin/policy/resolve.ts';
import { type Pack, packSchema } from '../../../shared/pack.ts';
import { policySchema } from '../../../shared/policy.ts';
import { endpoint } from '../endpoints/endpoints.ts';

/** Frankfurt, Dublin, Paris and a facility of the operator's own; all speak the OpenAI API. */
export const EU_ENDPOINTS: readonly Endpoint[] = [
  endpoint({ id: 'fra' }),
  endpoint({ id: 'dub', region: 'eu-west-1' }),
  endpoint({
    id: 'par',
    provider: 'azure-openai',
    region: 'francecentral',
    models: { chat: 'par-model-2026' },
  }),
  endpoint({ id: 'own', provider: 'openai-compatible', region: 'own-dc-1', country: 'DE' }),
];

export const registryOf = (endpoints: readonly Endpoint[]): ReadonlyMap<string, Endpoint> =>
  new Map(endpoints.map((one) => [one.id, one]));

/** A loaded policy of the zone eu with one workload, `chat`, over the graph that is given. */
export function policy(
  change: Readonly<Record<string, unknown>> = {},
  failover: Readonly<Record<string, unknown>> = {
    primary: 'fra',
    secondary: ['dub', 'par'],
    last_resort: 'own',
  },
  packs: readonly Pack[] = [],
): LoadedPolicy {
  const document = policySchema.parse({
    policy: 'eu-test',
    version: '1.0.0',
    jurisdiction: 'eu',
    packs: packs.map((one) => one.pack),
    author: 'a.person',
    reviewer: 'b.person',
    allow: { countries: ['EEA'] },
    workloads: { chat: { class: 'large', failover } },
    ...change,
  });
  const bytes = (value: object) => Buffer.from(JSON.stringify(value));
  const loaded = packs.map((one) => ({ pack: one, bytes: bytes(one) }));
  return loadedPolicy(document, bytes(document), loaded);
}

/** A pack of the zone eu that asks for what is given, under the name of one that ships. */
export const pack = (change: Readonly<Record<string, unknown>>): Pack =>
  packSchema.parse({ pack: 'de-only', version: '1.0.0', jurisdiction: 'eu', summary: 'x', ...change });

export const NOW = Date.UTC(2026, 0, 1);

/** A snapshot in which the endpoints named are down, each until so many ms from now. */
export const down = (until: Readonly<Record<string, number>>): HealthSnapshot => ({
  of: (id) => {
    const ms = until[id];
    return ms === undefined
      ? { usable: true }
      : { usable: false, why: `circuit open: ${id} failed`, retryAt: NOW + ms };
  },
});

/** What resolve() says for a call of `chat` by tenant `acme` without a team, unless told otherwise. */
export const ask = (change: Partial<ResolveInput> = {}) =>
  resolve({
    zone: 'eu',
    policy: policy(),
    tenant: 'acme',
    team: undefined,
    workload: 'chat',
    api: 'openai',
    registry: registryOf(EU_ENDPOINTS),
    health: everyEndpointHealthy,
    now: NOW,
    ...change,
  });

/** The outcome as one line: the candidates in order, or the code of the refusal. */
export function outcome(change: Partial<ResolveInput> = {}): string {
  const resolved = ask(change);
  if (!resolved.ok) return resolved.error.code;
  return resolved.value.candidates.map((candidate) => candidate.endpoint.id).join(' ');
}

/** Why an endpoint was passed over, in words; undefined where it was not. */
export function rejection(id: string, change: Partial<ResolveInput> = {}): string | undefined {
  const resolved = ask(change);
  const refused = !resolved.ok && 'candidates' in resolved.error ? resolved.error.candidates : [];
  const rejected = resolved.ok ? resolved.value.rejected : refused;
  return rejected.find((one) => one.endpoint === id)?.rejected;
}
