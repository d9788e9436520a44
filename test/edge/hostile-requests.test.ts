import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ACME, type EdgeWorld, keyOf, lines, rawExchange, startEdgeWorld } from '../support/edge.ts';
import { type StubOrigin, startStubOrigin } from '../support/stub-origin.ts';

const AUTH = `authorization: Bearer ${keyOf('acme')}\r\n`;

let world: EdgeWorld;
let evil: StubOrigin;
beforeAll(async () => {
  [world, evil] = await Promise.all([startEdgeWorld(), startStubOrigin()]);
});
afterAll(async () => {
  expect([...evil.calls.all, ...world.us.calls.all]).toEqual([]);
  await Promise.all([world.close(), evil.close()]);
});

/** Sends header lines as they are; gives status, code and what the origin saw. */
async function send(headers: string, target = '/v1/models', body = '') {
  const before = world.eu.calls.all.length;
  const head = `POST ${target} HTTP/1.1\r\nhost: ai.example\r\n${headers}\r\n${body}`;
  const answer = await rawExchange(world.edge.url, head);
  return {
    status: Number(/^HTTP\/1.1 (\d{3})/.exec(answer)?.[1]),
    code: /"code":"(\w+)"/.exec(answer)?.[1],
    origin: world.eu.calls.all.slice(before),
  };
}

describe('each routing header', () => {
  it.each([
    ['x-jurisdiction: eu\r\nx-jurisdiction: us', 'jurisdiction_ambiguous'],
    ['x-jurisdiction: us\r\nx-jurisdiction: eu', 'jurisdiction_ambiguous'],
    ['x-jurisdiction: eu\r\nX-Jurisdiction: EU', 'jurisdiction_ambiguous'],
    ['x-jurisdiction: eu\r\nx-jurisdiction:', 'jurisdiction_ambiguous'],
    ['x-jurisdiction: eu, us', 'jurisdiction_ambiguous'],
    ['x-jurisdiction:', 'jurisdiction_missing'],
    ['x-jurisdiction: \t ', 'jurisdiction_missing'],
    ['x-jurisdiction: Eu', 'jurisdiction_unknown'],
    ['x-jurisdiction: \uff45\uff55', 'jurisdiction_unknown'],
    [`x-jurisdiction: ${'eu'.repeat(4096)}`, 'jurisdiction_unknown'],
    ['x-jurisdiction: eu\r\nx-tenant-id: acme\r\nx-tenant-id: usco', 'tenant_invalid'],
    ['x-jurisdiction: eu\r\nx-tenant-id: ACME', 'tenant_invalid'],
    ['x-jurisdiction: eu\r\nx-tenant-id: usco', 'tenant_mismatch'],
    [`x-jurisdiction: eu\r\nx-api-key: ${keyOf('usco')}`, 'tenant_mismatch'],
  ])('%j is refused', async (headers, code) => {
    const { code: given, origin } = await send(`${headers}\r\n${AUTH}`);
    expect([given, origin]).toEqual([code, []]);
  });

  it.each([
    'x-jurisdiction:    eu   ',
    'X-JURISDICTION: eu',
    'x-jurisdiction: eu\r\nx-jurisdiction: eu',
    'x-jurisdiction: eu,eu\r\nx-tenant-id: acme\r\nx-tenant-id: acme',
  ])('%j reaches the origin as one plain value', async (headers) => {
    const { status, origin } = await send(`${headers}\r\n${AUTH}content-length: 0\r\n`);
    expect(status).toBe(200);
    expect(origin[0]?.headersDistinct).toMatchObject({ 'x-jurisdiction': ['eu'], 'x-tenant-id': ['acme'] });
  });

  it('twice with two keys leaves the decision on the key to the origin of the named tenant', async () => {
    const keys = `authorization: Bearer ${keyOf('usco')}\r\n${AUTH}`;
    const { origin } = await send(`x-jurisdiction: eu\r\nx-tenant-id: acme\r\n${keys}content-length: 0\r\n`);
    expect(origin[0]?.headers['x-tenant-id']).toBe('acme');
  });
});

describe('the connection header', () => {
  const NOMINATED =
    'x-jurisdiction, X-Tenant-Id, authorization, content-length, content-type, x-workload, x-mine';

  it('removes nothing that the gateway relies on, and what it may remove', async () => {
    const headers = {
      ...ACME,
      connection: NOMINATED,
      'x-workload': 'w',
      'x-mine': '1',
      'content-type': 'a/b',
    };
    const { status, origin } = await send(`${lines(headers)}content-length: 2\r\n`, '/v1/models', '{}');
    expect(status).toBe(200);
    expect(origin[0]?.headers).toMatchObject({
      authorization: ACME.authorization,
      'x-jurisdiction': 'eu',
      'x-tenant-id': 'acme',
      'x-workload': 'w',
      'content-type': 'a/b',
      'content-length': '2',
    });
    expect(origin[0]?.headers).not.toHaveProperty('x-mine');
  });

  it('cannot take the tag away from the edge', async () => {
    const { code } = await send(`connection: x-jurisdiction\r\nx-jurisdiction: us\r\n${AUTH}`);
    expect(code).toBe('jurisdiction_mismatch');
  });

  it('and its kin stay on their side of the edge', async () => {
    const hops = { te: 'trailers', 'keep-alive': '5', 'proxy-authorization': 'Basic eA==', upgrade: 'h2c' };
    const { origin } = await send(`${lines({ ...ACME, ...hops })}content-length: 0\r\n`);
    for (const name of Object.keys(hops)) expect(origin[0]?.headers).not.toHaveProperty(name);
  });

  it('does not open a door for what clients may not set', async () => {
    const forged = {
      'x-residency-assertion': 'forged',
      'X-Residency-Policy': 'forged',
      connection: 'x-request-id',
    };
    const { origin } = await send(`${lines({ ...ACME, ...forged })}content-length: 0\r\n`);
    expect(origin[0]?.headers['x-residency-assertion']).not.toContain('forged');
    expect(origin[0]?.headers).not.toHaveProperty('x-residency-policy');
  });
});

describe('the target of a request', () => {
  it.each([
    ['//evil.example/x?y=1', '//evil.example/x?y=1'],
    ['/\\evil.example/x', '//evil.example/x'],
    ['/v1/../../x', '/x'],
    ['/v1/%2e%2e/%2E./x;y', '/x;y'],
    ['/a?b=http://evil.example/&c=?', '/a?b=http://evil.example/&c=?'],
    ['/@evil.example', '/@evil.example'],
    ["/a?q=%20|'", '/a?q=%20|%27'],
    ['/a#evil', '/a'],
  ])('%j goes to the same origin, where the assertion names what it sees', async (target, seen) => {
    const { status, origin } = await send(`${lines(ACME)}content-length: 0\r\n`, target);
    expect([status, origin.map((request) => request.url)]).toEqual([200, [seen]]);
    const claims = await world.verifyAssertion(origin[0]?.headers['x-residency-assertion'], 'eu');
    expect(claims.htu).toBe(seen);
  });

  it('in absolute form asks no other host', async () => {
    const { origin } = await send(`${lines(ACME)}content-length: 0\r\n`, `${evil.url}/v1/models`);
    for (const request of origin) expect(request.url).not.toContain('evil');
    expect(evil.calls.all).toEqual([]);
  });

  it('cannot be changed by headers that steer other gateways', async () => {
    const steering = {
      'x-forwarded-host': new URL(evil.url).host,
      'x-original-url': `${evil.url}/x`,
      'x-portkey-config': `{"custom_host":"${evil.url}"}`,
      'x-portkey-custom-host': evil.url,
      forwarded: `host=${new URL(evil.url).host}`,
    };
    const { status, origin } = await send(`${lines({ ...ACME, ...steering })}content-length: 0\r\n`);
    expect([status, origin.length, evil.calls.all]).toEqual([200, 1, []]);
  });
});

describe('the framing of a body', () => {
  it('with a length and chunks at once reaches the origin as one body', async () => {
    const framing = 'content-length: 4\r\ntransfer-encoding: chunked\r\n';
    const { origin } = await send(`${lines(ACME)}${framing}`, '/v1/models', '3\r\nabc\r\n0\r\n\r\n');
    expect(origin.length).toBeLessThanOrEqual(1);
    for (const request of origin) expect(request.headers).not.toHaveProperty('content-length');
  });

  it('of two lengths is no request at all', async () => {
    const framing = 'content-length: 4\r\ncontent-length: 40\r\n';
    const { status, origin } = await send(`${lines(ACME)}${framing}`, '/v1/models', 'abcd');
    expect([status >= 400, origin]).toEqual([true, []]);
  });

  it('of a GET is not announced to the origin and then left out', async () => {
    const before = world.eu.calls.all.length;
    const head = `GET /v1/models HTTP/1.1\r\nhost: ai.example\r\n${lines(ACME)}`;
    const answer = await rawExchange(world.edge.url, `${head}content-length: 3\r\n\r\nabc`);
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    const [request] = world.eu.calls.all.slice(before);
    expect(request?.headers).not.toHaveProperty('content-length');
    expect(request?.headers).not.toHaveProperty('transfer-encoding');
  });

  it('behind expect: 100-continue is asked for and passed on', async () => {
    const { status, origin } = await send(
      `${lines({ ...ACME, expect: '100-continue' })}content-length: 2\r\n`,
      '/v1/models',
      '{}',
    );
    expect([status, origin.length]).toEqual([200, 1]);
    expect(origin[0]?.headers).not.toHaveProperty('expect');
  });
});
