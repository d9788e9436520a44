import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newGatewayKey } from '../../origin/keys/gateway-key.ts';
import { answerTo, chat, documentOf, presented } from '../support/calls.ts';
import { lines } from '../support/edge.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { RawClient } from '../support/raw-client.ts';
import { assertionOf } from '../support/worded-assertion.ts';

const CHAT = '/v1/chat/completions';
const TEN_MB = 10_000_000;

let gateway: TestGateway;
const clients: RawClient[] = [];

beforeAll(async () => {
  gateway = await startGateway({
    eu: {
      // No file can declare it, but a stored record of a tenant that has moved away will say just this.
      amend: (config) => {
        const acme = config.tenants.get('acme');
        if (acme === undefined) throw new Error('no tenant acme');
        const emigrant = { ...acme, id: 'emigrant', jurisdiction: 'us' } as const;
        return { ...config, tenants: new Map([...config.tenants, ['emigrant', emigrant]]) };
      },
    },
  });
  // What an edge with old entries believes.
  for (const tenant of ['nomad', 'emigrant', 'globex']) {
    await gateway.edge.putTenant(tenant, { jurisdiction: 'eu', state: 'active', version: 1 });
  }
});
afterAll(() => gateway.close());
beforeEach(() => {
  for (const provider of gateway.eu.providers.values()) provider.reset();
});
afterEach(() => {
  for (const client of clients.splice(0)) client.socket.destroy();
});

function clientOf(url: string): RawClient {
  const client = new RawClient(url);
  clients.push(client);
  return client;
}

const post = (headers: Record<string, string>, path = CHAT): string =>
  `POST ${path} HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\n${lines(headers)}\r\n`;

/** Headers of a request straight to the origin, in the edge's place. */
const vouched = async (tenant: string, key: string): Promise<Record<string, string>> => ({
  authorization: `Bearer ${key}`,
  'x-residency-assertion': await assertionOf(gateway.edgeKey.private, { zone: 'eu', tenant, target: CHAT }),
});

const forwarded = (): number =>
  [...gateway.eu.providers.values(), ...gateway.us.providers.values()].reduce(
    (sum, { receivedTotal }) => sum + receivedTotal,
    0,
  );

describe('a tenant of another zone, sent here by an edge with an old entry,', () => {
  it.each([
    ['whom this origin has never known', 'nomad', () => newGatewayKey('nomad')],
    ['whose record here says another zone', 'emigrant', () => newGatewayKey('emigrant')],
    ['whose key is good where it lives', 'globex', () => gateway.us.key('globex')],
  ])(
    '%s, is misdirected: refused, on record, and never asked whether its key is good',
    async (_, tenant, key) => {
      const requestId = `misdirected.${tenant}`;
      const answer = await answerTo(gateway.edge.url, CHAT, {
        headers: { ...presented('eu', key()), 'x-request-id': requestId },
        body: chat('support-chat'),
      });
      expect(answer.status).toBe(421);
      expect(documentOf(answer)).toMatchObject({ error: { code: 'misdirected', request_id: requestId } });
      expect(answer.headers).toMatchObject({
        'x-residency-outcome': 'refused',
        'x-residency-decided-by': 'origin',
        'x-residency-jurisdiction': 'eu',
      });
      const records = await gateway.eu.recordsOf(requestId);
      expect(records).toHaveLength(1);
      expect(records[0]).toMatchObject({
        kind: 'refused',
        code: 'misdirected',
        tenant,
        jurisdiction_claimed: 'eu',
        jurisdiction: 'eu',
      });
      expect(records[0]).not.toHaveProperty('key_id');
      expect(await gateway.us.recordsOf(requestId)).toEqual([]);
      expect(forwarded()).toBe(0);
    },
  );

  it('is told nothing that tells one case from the other', async () => {
    const texts = await Promise.all(
      ['nomad', 'emigrant'].map(async (tenant) => {
        const headers = { ...presented('eu', newGatewayKey(tenant)), 'x-request-id': 'same' };
        return (await answerTo(gateway.edge.url, CHAT, { headers, body: chat('support-chat') })).text;
      }),
    );
    expect(new Set(texts).size).toBe(1);
  });
});

const refusals = [
  { status: 421, why: 'a tenant of another zone', tenant: 'nomad', key: () => newGatewayKey('nomad') },
  { status: 401, why: 'a key that is not valid', tenant: 'acme', key: () => newGatewayKey('acme') },
  { status: 401, why: 'a revoked key', tenant: 'acme', key: () => gateway.eu.key('acme', 'revoked') },
];

describe.each(refusals)(
  'a caller with $why that announces 10 MB and sends them slowly',
  ({ status, tenant, key }) => {
    const announced = { 'content-length': String(TEN_MB) };

    it('gets the answer of the origin before it has sent more than ten bytes', async () => {
      const client = clientOf(gateway.eu.origin.url);
      client.send(post({ ...(await vouched(tenant, key())), ...announced }));
      client.send('{"model": ');
      expect((await client.answer()).status).toBe(status);
      expect(forwarded()).toBe(0);
    });

    it('gets it through the edge too', async () => {
      const client = clientOf(gateway.edge.url);
      client.send(post({ ...presented('eu', key()), ...announced }));
      client.send('{"model": ');
      const answer = await client.answer();
      expect(answer.status).toBe(status);
      expect(answer.head.toLowerCase()).toContain('x-residency-decided-by: origin');
      expect(forwarded()).toBe(0);
    });

    it('can send the rest, and then be served on the same connection', async () => {
      const client = clientOf(gateway.eu.origin.url);
      client.send(post({ ...(await vouched(tenant, key())), ...announced }));
      expect((await client.answer()).status).toBe(status);
      client.send(Buffer.alloc(TEN_MB, 'x'));
      const body = chat('support-chat');
      const good = await vouched('acme', gateway.eu.key('acme'));
      client.send(post({ ...good, 'content-length': String(body.length) }) + body);
      expect((await client.answer()).status).toBe(200);
      expect(forwarded()).toBe(1);
    });

    it('is not invited to send them when it asks first', async () => {
      const client = clientOf(gateway.eu.origin.url);
      client.send(post({ ...(await vouched(tenant, key())), ...announced, expect: '100-continue' }));
      expect((await client.answer()).status).toBe(status);
    });
  },
);

describe('a request without an assertion', () => {
  it('is refused before its body, and the next one of the connection is not taken for its content', async () => {
    const client = clientOf(gateway.eu.origin.url);
    client.send(post({ authorization: `Bearer ${gateway.eu.key('acme')}`, 'transfer-encoding': 'chunked' }));
    expect((await client.answer()).status).toBe(401);
    client.send(`5\r\nhello\r\n0\r\n\r\n${post({ 'content-length': '2' })}{}`);
    expect((await client.answer()).status).toBe(401);
    expect(forwarded()).toBe(0);
  });
});
