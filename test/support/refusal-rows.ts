import { presented } from './calls.ts';
import { EU_LIMITS, type RefusalRow, type RefusalWorld, SECRET_WORDS } from './refusal-world.ts';

const eu = { 'x-jurisdiction': 'eu' };
const model = (name: string): string =>
  JSON.stringify({ model: name, messages: [{ role: 'user', content: SECRET_WORDS }] });

/** Holds so many calls at an endpoint while `during` runs. */
async function whileHeld<T>(
  world: RefusalWorld,
  endpoint: string,
  calls: readonly (() => Promise<unknown>)[],
  during: () => Promise<T>,
): Promise<T> {
  const provider = world.gateway.eu.provider(endpoint);
  provider.order({ gate: 'headers' });
  const held = calls.map((call) => call());
  await provider.waitFor(({ index, heldAt }) => index === calls.length - 1 && heldAt === 'headers');
  try {
    return await during();
  } finally {
    provider.release('headers');
    await Promise.all(held);
  }
}

/** What is refused from headers alone, at the edge or at the origin. */
export const ROWS_FROM_HEADERS: readonly RefusalRow[] = [
  {
    code: 'jurisdiction_missing',
    why: 'no x-jurisdiction',
    ask: (w, caller, id) =>
      w.ask(caller, id, { headers: { authorization: `Bearer ${w.gateway.eu.key('acme')}` } }),
    status: 400,
    by: 'edge',
    jurisdiction: null,
    tenant: 'acme',
    param: 'x-jurisdiction',
  },
  {
    code: 'jurisdiction_unknown',
    why: 'a country in place of a zone',
    ask: (w, caller, id) => w.ask(caller, id, { headers: { ...w.acme(), 'x-jurisdiction': 'de' } }),
    status: 400,
    by: 'edge',
    jurisdiction: null,
    tenant: 'acme',
    param: 'x-jurisdiction',
  },
  {
    code: 'jurisdiction_ambiguous',
    why: 'two zones',
    ask: (w, caller, id) => w.ask(caller, id, { headers: { ...w.acme(), 'x-jurisdiction': 'eu, us' } }),
    status: 400,
    by: 'edge',
    jurisdiction: null,
    tenant: 'acme',
    param: 'x-jurisdiction',
  },
  {
    code: 'tenant_missing',
    why: 'a credential that names nobody',
    ask: (w, caller, id) => w.ask(caller, id, { headers: { ...eu, authorization: 'Bearer sk-MARKER-KEY' } }),
    status: 400,
    by: 'edge',
    param: 'x-tenant-id',
  },
  {
    code: 'tenant_invalid',
    why: 'an upper-case tenant',
    ask: (w, caller, id) => w.ask(caller, id, { headers: { ...w.acme(), 'x-tenant-id': 'ACME' } }),
    status: 400,
    by: 'edge',
    param: 'x-tenant-id',
  },
  {
    code: 'tenant_unknown',
    why: 'a tenant without an entry',
    ask: (w, caller, id) => w.ask(caller, id, { headers: w.stranger('nobody') }),
    status: 403,
    by: 'edge',
    tenant: 'nobody',
  },
  {
    code: 'tenant_mismatch',
    why: 'a header against the key, at the edge',
    ask: (w, caller, id) => w.ask(caller, id, { headers: { ...w.acme(), 'x-tenant-id': 'paused' } }),
    status: 403,
    by: 'edge',
    tenant: 'paused',
  },
  {
    code: 'tenant_mismatch',
    why: 'another tenant than the edge vouches for, at the origin',
    ask: (w, caller, id) => w.askOrigin(caller, id, presented('eu', w.gateway.us.key('globex'))),
    status: 403,
    by: 'origin',
    tenant: 'acme',
  },
  {
    code: 'jurisdiction_mismatch',
    why: "another zone than the tenant's",
    ask: (w, caller, id) => w.ask(caller, id, { headers: { ...w.acme(), 'x-jurisdiction': 'us' } }),
    status: 403,
    by: 'edge',
    jurisdiction: 'us',
    tenant: 'acme',
    param: 'x-jurisdiction',
  },
  {
    code: 'tenant_suspended',
    why: 'suspended, as the edge knows',
    ask: (w, caller, id) => w.ask(caller, id, { headers: w.stranger('banned') }),
    status: 403,
    by: 'edge',
    tenant: 'banned',
  },
  {
    code: 'tenant_suspended',
    why: 'suspended, as only the origin knows yet',
    ask: (w, caller, id) => w.ask(caller, id, { headers: presented('eu', w.gateway.eu.key('paused')) }),
    status: 403,
    by: 'origin',
    tenant: 'paused',
  },
  {
    code: 'tenant_moving',
    why: 'on the move, as the edge knows',
    ask: (w, caller, id) => w.ask(caller, id, { headers: w.stranger('mover') }),
    status: 503,
    by: 'edge',
    tenant: 'mover',
    retryAfter: 60,
  },
  {
    code: 'tenant_moving',
    why: 'on the move, as only the origin knows yet',
    ask: (w, caller, id) => w.ask(caller, id, { headers: presented('eu', w.gateway.eu.key('leaving')) }),
    status: 503,
    by: 'origin',
    tenant: 'leaving',
    retryAfter: 60,
  },
  {
    code: 'lookup_unavailable',
    why: 'an entry that does not parse',
    ask: (w, caller, id) => w.ask(caller, id, { headers: w.stranger('broken') }),
    status: 503,
    by: 'edge',
    tenant: 'broken',
    retryAfter: 2,
  },
  {
    code: 'origin_unavailable',
    why: 'a zone without an origin',
    ask: (w, caller, id) => w.ask(caller, id, { headers: w.stranger('jpco', 'jp') }),
    status: 503,
    by: 'edge',
    jurisdiction: 'jp',
    tenant: 'jpco',
    retryAfter: 2,
  },
  {
    code: 'wrong_host',
    why: 'a host outside the zone',
    ask: (w, caller, id) => w.ask(caller, id, { headers: w.stranger('chco', 'ch') }),
    status: 421,
    by: 'edge',
    jurisdiction: 'ch',
    tenant: 'chco',
  },
  {
    code: 'assertion_invalid',
    why: 'a request that did not come through the edge',
    ask: (w, caller, id) => w.askOrigin(caller, id, { ...w.acme(), 'x-residency-assertion': 'e30.e30.' }),
    status: 401,
    by: 'origin',
  },
  {
    code: 'key_missing',
    why: 'no credential, at the edge',
    ask: (w, caller, id) => w.ask(caller, id, { headers: { ...eu, 'x-tenant-id': 'acme' } }),
    status: 401,
    by: 'edge',
    tenant: 'acme',
  },
  {
    code: 'key_missing',
    why: 'no credential, at the origin',
    ask: (w, caller, id) => w.askOrigin(caller, id, {}),
    status: 401,
    by: 'origin',
    tenant: 'acme',
  },
  {
    code: 'key_invalid',
    why: 'a key of right form that was never made',
    ask: (w, caller, id) => w.ask(caller, id, { headers: w.stranger('acme') }),
    status: 401,
    by: 'origin',
    tenant: 'acme',
  },
  {
    code: 'key_revoked',
    why: 'a revoked key',
    ask: (w, caller, id) => w.ask(caller, id, { headers: w.acme('revoked') }),
    status: 401,
    by: 'origin',
    tenant: 'acme',
  },
  {
    code: 'misdirected',
    why: 'a tenant whom the zone does not know',
    ask: (w, caller, id) => w.ask(caller, id, { headers: w.stranger('nomad') }),
    status: 421,
    by: 'origin',
    tenant: 'nomad',
  },
  {
    code: 'misdirected',
    why: 'an assertion that speaks of another zone',
    ask: (w, caller, id) => w.askOrigin(caller, id, w.acme(), 'acme', { claims: { jur: 'us' } }),
    status: 421,
    by: 'origin',
    tenant: 'acme',
  },
  {
    code: 'body_too_large',
    why: 'headers over header_bytes',
    ask: (w, caller, id) =>
      w.ask(caller, id, { headers: { ...w.acme(), 'anthropic-beta': 'b'.repeat(16_384) } }),
    status: 413,
    by: 'origin',
  },
];

/** What is refused once the body is there, or by what an endpoint did. */
export const ROWS_FROM_BODY: readonly RefusalRow[] = [
  {
    code: 'gateway_busy',
    why: 'as many calls under way as concurrent_requests',
    ask: (w, caller, id) => {
      const call = (requestId: string) => w.ask(caller, requestId, { headers: w.acme() });
      const held = Array.from({ length: EU_LIMITS.concurrent_requests }, (_, n) => () => call(`held.${n}`));
      return whileHeld(w, caller.endpoint, held, () => call(id));
    },
    status: 503,
    by: 'origin',
    tenant: 'acme',
    retryAfter: 1,
    reached: ({ endpoint }) => [endpoint],
  },
  {
    code: 'gateway_busy',
    why: 'as many body bytes held as buffered_body_bytes',
    ask: (w, caller, id) => {
      const body = model('support-chat').padEnd(EU_LIMITS.body_bytes);
      const call = (requestId: string) => w.ask(caller, requestId, { headers: w.acme(), body });
      return whileHeld(w, caller.endpoint, [() => call('big.1'), () => call('big.2')], () => call(id));
    },
    status: 503,
    by: 'origin',
    tenant: 'acme',
    retryAfter: 1,
    reached: ({ endpoint }) => [endpoint],
  },
  {
    code: 'idempotency_in_flight',
    why: 'the key of a call that is still running',
    ask: (w, caller, id) => {
      const call = (requestId: string) =>
        w.ask(caller, requestId, { headers: { ...w.acme(), 'idempotency-key': 'MARKER-IDEMPOTENCY' } });
      return whileHeld(w, caller.endpoint, [() => call('running')], () => call(id));
    },
    status: 409,
    by: 'origin',
    tenant: 'acme',
    retryAfter: 1,
    reached: ({ endpoint }) => [endpoint],
  },
  {
    code: 'body_invalid',
    why: 'a body that is no JSON',
    ask: (w, caller, id) => w.ask(caller, id, { headers: w.acme(), body: `{"model":"${SECRET_WORDS}` }),
    status: 400,
    by: 'origin',
    tenant: 'acme',
  },
  {
    code: 'body_invalid',
    why: 'a model that is no string',
    ask: (w, caller, id) => w.ask(caller, id, { headers: w.acme(), body: '{"model":7}' }),
    status: 400,
    by: 'origin',
    tenant: 'acme',
    param: 'model',
  },
  {
    code: 'body_too_large',
    why: 'a byte over body_bytes, announced',
    ask: (w, caller, id) =>
      w.ask(caller, id, {
        headers: w.acme(),
        body: model('support-chat').padEnd(EU_LIMITS.body_bytes + 1),
      }),
    status: 413,
    by: 'origin',
    tenant: 'acme',
  },
  {
    code: 'workload_unknown',
    why: 'a workload that the policy does not know',
    ask: (w, caller, id) => w.ask(caller, id, { headers: w.acme(), body: model('MARKER-MODEL') }),
    status: 404,
    by: 'origin',
    tenant: 'acme',
    param: 'model',
  },
  {
    code: 'workload_unknown',
    why: 'no workload at all',
    ask: (w, caller, id) => w.ask(caller, id, { headers: w.acme(), body: '{}' }),
    status: 404,
    by: 'origin',
    tenant: 'acme',
    param: 'model',
  },
  {
    code: 'workload_unknown',
    why: 'a workload that only endpoints of the other API serve',
    ask: (w, caller, id) => w.ask(caller, id, { headers: presented('us', w.gateway.us.key('globex')) }),
    status: 404,
    by: 'origin',
    jurisdiction: 'us',
    tenant: 'globex',
    param: 'model',
    only: 'anthropic',
  },
  {
    code: 'route_unknown',
    why: 'a path that is no route',
    ask: (w, caller, id) =>
      w.ask({ ...caller, path: `${caller.path}/MARKER-PATH` }, id, { headers: w.acme() }),
    status: 404,
    by: 'origin',
    tenant: 'acme',
  },
  {
    code: 'model_not_allowed',
    why: 'a workload that the team may not call',
    ask: (w, caller, id) => w.ask(caller, id, { headers: w.acme('narrow') }),
    status: 403,
    by: 'origin',
    tenant: 'acme',
    param: 'model',
    decided: true,
  },
  {
    code: 'region_blocked',
    why: 'a team locked to a region without an endpoint',
    ask: (w, caller, id) => w.ask(caller, id, { headers: w.acme('nowhere') }),
    status: 403,
    by: 'origin',
    tenant: 'acme',
    decided: true,
  },
  {
    code: 'no_compliant_endpoint',
    why: 'every endpoint of the zone down',
    ask: (w, caller, id) => {
      for (const provider of w.gateway.eu.providers.values())
        provider.order({ status: 503, echo: ['prompt'] });
      return w.ask(caller, id, { headers: w.acme() });
    },
    status: 503,
    by: 'origin',
    tenant: 'acme',
    retryAfter: 1,
    outcome: 'failed',
    decided: true,
    kinds: ({ api }) =>
      api === 'openai' ? ['pending', 'failed', 'pending', 'failed'] : ['pending', 'failed'],
    reached: ({ api }) => (api === 'openai' ? ['fra', 'dub'] : ['fra-messages']),
  },
  {
    code: 'region_violation',
    why: 'evidence of a region outside the zone',
    ask: (w, caller, id) => {
      w.gateway.eu.provider(caller.endpoint).order({ headers: { 'x-ran-in': 'us-east-1' } });
      return w.ask(caller, id, { headers: w.acme() });
    },
    status: 502,
    by: 'origin',
    tenant: 'acme',
    outcome: 'failed',
    kinds: () => ['pending', 'violation'],
    reached: ({ endpoint }) => [endpoint],
  },
  {
    code: 'ledger_unavailable',
    why: 'a log that does not take the pending record in time',
    ask: async (w, caller, id) => {
      const release = w.store.hold();
      try {
        return await w.ask(caller, id, { headers: w.acme() });
      } finally {
        release();
      }
    },
    status: 503,
    by: 'origin',
    tenant: 'acme',
    retryAfter: 2,
    // The store took the pending record in the end, so the ledger has ended it: nothing was forwarded on it.
    kinds: () => ['pending', 'failed', 'refused'],
  },
];
