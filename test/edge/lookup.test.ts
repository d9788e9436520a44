import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ACME, type EdgeWorld, keyOf, startEdgeWorld } from '../support/edge.ts';

const PEPPER = 'pepper-of-16-or-more';

let world: EdgeWorld;
beforeAll(async () => {
  world = await startEdgeWorld();
});
afterAll(() => world.close());

const codeOf = async (headers: Readonly<Record<string, string>>) => {
  const answer = await world.call('/v1/models', { headers });
  return [answer.statusCode, await answer.body.text()];
};
const unavailable = [503, expect.stringContaining('"code":"lookup_unavailable"')];

describe('an entry that is no tenant entry', () => {
  it.each([
    '',
    ' ',
    'eu',
    'null',
    '[]',
    '"eu"',
    '{"jurisdiction":"eu","state":"active"}',
    '{"jurisdiction":"EU","state":"active","version":1}',
    '{"jurisdiction":"mars","state":"active","version":1}',
    '{"jurisdiction":"eu","state":"ACTIVE","version":1}',
    '{"jurisdiction":"eu","state":"active","version":"1"}',
    '{"jurisdiction":"eu","state":"active","version":1.5}',
    '{"jurisdiction":"eu","state":"active","version":-1}',
    '{"jurisdiction":"eu","state":"active","version":1,"name":"Acme"}',
    '{"jurisdiction":"eu","state":"active","version":1',
  ])('%j refuses the call', async (text) => {
    await (await world.edge.entries()).put('tenant:rubbish', text);
    expect(await codeOf({ ...ACME, authorization: `Bearer ${keyOf('rubbish')}` })).toEqual(unavailable);
    expect(world.eu.calls.all).toEqual([]);
  });
});

describe('KV that fails', () => {
  it.each([
    ['throws', `export default () => ({ get() { throw new Error('KV GET failed: 500'); } });`],
    ['rejects', `export default () => ({ async get() { throw new Error('KV GET failed: 500'); } });`],
    ['never answers', 'export default () => ({ get: () => new Promise(() => {}) });'],
    ['gives a number', 'export default () => ({ get: async () => 7 });'],
    ['gives an object', `export default () => ({ get: async () => ({ jurisdiction: 'eu' }) });`],
  ])('and %s refuses the call, again and again', async (_how, tenantsModule) => {
    const broken = await startEdgeWorld({ tenantsModule });
    const answers = await Promise.all([1, 2, 3].map(() => broken.call('/v1/models', { headers: ACME })));
    for (const answer of answers) {
      expect([answer.statusCode, await answer.body.text()]).toEqual(unavailable);
      expect(answer.headers['retry-after']).toBe('2');
    }
    expect([...broken.eu.calls.all, ...broken.us.calls.all]).toEqual([]);
    expect((await broken.verifyReport(await broken.us.reports.next(), 'us')).sub).toBe('acme');
    await broken.close();
  });
});

describe('the key of an entry', () => {
  it('is an HMAC once there is a pepper, and a plain entry is then no longer found', async () => {
    await world.edge.update({ pepper: PEPPER });
    expect((await codeOf(ACME))[0]).toBe(403);
    await world.edge.putTenant('acme', { jurisdiction: 'eu', state: 'active', version: 8 });
    expect((await codeOf(ACME))[0]).toBe(200);
    // HMAC-SHA-256 of "acme" under the pepper above, as openssl computes it.
    const { keys } = await (await world.edge.entries()).list();
    expect(keys.map((key) => key.name)).toContain('tenant:riZzEQ_wtgPfEaCGhN7r3Te7CXh-sTZ-O27CAx2KLwo');
    await world.edge.update({ variables: {} });
  });
});

describe('a Worker that is half configured', () => {
  const key = { kty: 'OKP', crv: 'Ed25519', kid: 'k', x: 'AAAA', d: 'AAAA' };

  it.each<[string, Record<string, string | undefined>]>([
    ['no origins', { ORIGINS: undefined }],
    ['origins that are not JSON', { ORIGINS: '{"eu":' }],
    ['an origin in no zone', { ORIGINS: '{"us":"https://us.example","eur":"https://eu.example"}' }],
    ['an origin with a path', { ORIGINS: '{"us":"https://us.example/a"}' }],
    ['an origin in the clear', { ORIGINS: '{"us":"http://us.example"}' }],
    ['an origin with a password', { ORIGINS: '{"us":"https://a:b@us.example"}' }],
    ['an origin that is no address', { ORIGINS: '{"us":"us"}' }],
    ['no home', { UNATTRIBUTED_HOME: undefined }],
    ['a home without an origin', { UNATTRIBUTED_HOME: 'jp' }],
    ['no signing key', { EDGE_SIGNING_KEY: undefined }],
    ['an empty signing key', { EDGE_SIGNING_KEY: '' }],
    ['a signing key that is none', { EDGE_SIGNING_KEY: JSON.stringify(key) }],
    ['a signing key without an id', { EDGE_SIGNING_KEY: JSON.stringify({ ...key, kid: undefined }) }],
    ['zone hosts that are not JSON', { ZONE_HOSTS: 'eu.ai.example' }],
    ['an empty pepper', { TENANT_KEY_PEPPER: '' }],
  ])('(%s) answers 503 to everything and asks nobody', async (_what, variables) => {
    const calls = world.eu.calls.all.length;
    await world.edge.update({ variables });
    for (const headers of [ACME, {}]) {
      const answer = await world.call('/v1/models', { headers });
      expect([answer.statusCode, answer.headers['x-residency-outcome']]).toEqual([503, 'refused']);
      expect(await answer.body.text()).toContain('"code":"origin_unavailable"');
    }
    expect(world.eu.calls.all.length).toBe(calls);
  });

  it('says in its log which variable it is, and never what is in it', async () => {
    const logged: string[] = [];
    await world.edge.update({
      variables: { EDGE_SIGNING_KEY: 'MARKER-SECRET' },
      log: (message) => logged.push(message),
    });
    await (await world.call('/v1/models', { headers: ACME })).body.text();
    await expect.poll(() => logged.join()).toContain('EDGE_SIGNING_KEY');
    expect(logged.join()).not.toContain('MARKER');
  });
});
