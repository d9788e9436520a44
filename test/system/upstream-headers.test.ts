import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answerTo, chat, presented } from '../support/calls.ts';
import { callOrigin, type DirectOrigin, directHeaders, resetZone, TWO_OF_EACH } from '../support/direct.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { endedRecords } from '../support/served.ts';

const CREDENTIAL = 'sk-endpoint-secret-0123456789';

let gateway: TestGateway;
let direct: DirectOrigin;

beforeAll(async () => {
  const endpoints = TWO_OF_EACH.map((endpoint) => ({ ...endpoint, credential: CREDENTIAL }));
  gateway = await startGateway({ eu: { endpoints } });
  direct = { zone: gateway.eu, name: 'eu', edgeKey: gateway.edgeKey, tenant: 'acme' };
});
afterAll(() => gateway.close());
beforeEach(() => resetZone(gateway.eu));

const call = (headers: Record<string, string> = {}, path = '/v1/chat/completions') =>
  answerTo(gateway.edge.url, path, {
    headers: { ...presented('eu', gateway.eu.key('acme')), 'content-type': 'application/json', ...headers },
    body: chat('support-chat'),
  });

describe("an endpoint's headers", () => {
  const SECRETS = {
    'set-cookie': ['session=secret-one', 'b=secret-two'],
    server: 'internal-host-secret',
    'x-amzn-trace': 'secret-trace',
    'x-residency-endpoint': 'forged-secret',
    'x-residency-receipt': 'forged-secret',
    'alt-svc': 'h3="secret.example:443"',
    'access-control-allow-origin': 'https://secret.example',
    'transfer-hint': 'secret',
  };

  it.each(['/v1/chat/completions', '/v1/messages'])(
    'reach a caller of %s from the short list only',
    async (path) => {
      for (const { id } of TWO_OF_EACH) {
        gateway.eu.provider(id).order({ headers: SECRETS, echo: ['credential'] });
      }
      const answer = await call({}, path);
      const said = JSON.stringify(answer.headers);
      expect(said).not.toContain('secret');
      expect(said).not.toContain(CREDENTIAL);
      expect(answer.headers).not.toHaveProperty('x-debug-echo');
      expect(answer.headers['x-upstream-request-id']).toBe('req_0');
      const [limit] =
        path === '/v1/messages' ? ['anthropic-ratelimit-requests-limit'] : ['x-ratelimit-limit-requests'];
      expect(answer.headers).toHaveProperty([limit]);
    },
  );

  it('reach no caller where the attempt failed', async () => {
    gateway.eu.provider('fra').order({
      status: 503,
      headers: {
        ...SECRETS,
        'x-ratelimit-limit-requests': '1',
        'x-request-id': 'of-the-first',
        'retry-after': '9',
      },
    });
    const answer = await call();
    expect(answer.headers['x-residency-endpoint']).toBe('dub');
    expect(answer.headers['x-upstream-request-id']).toBe('req_0');
    expect(answer.headers['x-ratelimit-limit-requests']).toBe('10000');
    expect(answer.headers).not.toHaveProperty('retry-after');
    expect(JSON.stringify(answer.headers)).not.toContain('secret');
  });

  it('are kept out of the log, like everything else that the endpoint says', async () => {
    const lines = gateway.eu.logLines.length;
    for (const { id } of TWO_OF_EACH) {
      gateway.eu.provider(id).order({ status: 401, headers: SECRETS, echo: ['credential', 'prompt'] });
    }
    const answer = await call();
    expect(answer.status).toBe(503);
    const records = await endedRecords(gateway.eu, String(answer.headers['x-request-id']));
    const everything = [answer.text, JSON.stringify(records), ...gateway.eu.logLines.slice(lines)].join('');
    for (const secret of ['secret', CREDENTIAL, '"hello"']) expect(everything).not.toContain(secret);
    expect(gateway.eu.logLines.slice(lines).join('')).toContain(
      "the gateway's credential is not accepted there",
    );
  });

  it('that are malformed break the attempt and not the process', async () => {
    const bytes = {
      text: 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-bad: a\u0000b\r\ncontent-length: 2\r\n\r\n{}',
    };
    gateway.eu.provider('fra').order({ raw: { bytes } });
    const answer = await call();
    expect([answer.status, answer.headers['x-residency-endpoint']]).toEqual([200, 'dub']);
  });

  it('longer than the limit break the attempt', async () => {
    gateway.eu.provider('fra').order({ headers: { 'x-long': 'x'.repeat(80_000) } });
    expect((await call()).headers['x-residency-endpoint']).toBe('dub');
  });
});

describe("a caller's headers", () => {
  it('go up from the short list only, and each attempt has the credential of its endpoint', async () => {
    gateway.eu.provider('fra').order({ status: 503 });
    await call({
      'x-tenant-id': 'acme',
      cookie: 'a=b',
      'x-forwarded-for': '192.0.2.1',
      'api-key': 'k',
      'accept-encoding': 'gzip',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      'idempotency-key': 'once',
      'openai-beta': 'assistants=v2',
    });
    for (const id of ['fra', 'dub']) {
      const [arrival] = gateway.eu.provider(id).received;
      const names = arrival?.headers.map(([name]) => name.toLowerCase()).sort();
      expect(names).toEqual([
        ...['authorization', 'connection', 'content-length', 'content-type', 'host', 'idempotency-key'],
        ...['openai-beta', 'traceparent'],
      ]);
      expect(arrival?.header('authorization')).toBe(`Bearer ${CREDENTIAL}`);
    }
  });

  it('may repeat a request id: both calls are on record, each with records of its own', async () => {
    await call({ 'x-request-id': 'twice' });
    await call({ 'x-request-id': 'twice' });
    const records = await endedRecords(gateway.eu, 'twice');
    expect(records.map(({ kind }) => kind)).toEqual([
      ...['pending', 'served', 'completed', 'pending', 'served', 'completed'],
    ]);
    expect(new Set(records.map(({ id }) => id)).size).toBe(6);
    expect(new Set(records.map(({ pending_id: pending }) => pending)).size).toBe(3);
  });
});

describe('an answer of the origin', () => {
  it('keeps its connection for longer than the edge and balancers before it do', async () => {
    const answer = await callOrigin(direct, '/v1/chat/completions', { body: chat('support-chat') });
    await answer.body.dump();
    const seconds = Number(/timeout=(\d+)/.exec(String(answer.headers['keep-alive']))?.[1]);
    expect(seconds).toBeGreaterThan(900);
  });

  it('serves one call after the other on a connection', async () => {
    const { hostname, port } = new URL(gateway.eu.origin.url);
    const socket = connect(Number(port), hostname);
    let heard = '';
    socket.on('data', (chunk) => {
      heard += String(chunk);
    });
    const body = chat('support-chat');
    for (const expected of [1, 2, 3]) {
      const headers = await directHeaders(direct, '/v1/chat/completions');
      const lines = Object.entries({ ...headers, 'content-length': String(body.length) }).map((line) =>
        line.join(': '),
      );
      socket.write(['POST /v1/chat/completions HTTP/1.1', 'host: origin', ...lines, '', body].join('\r\n'));
      await expect.poll(() => heard.match(/HTTP\/1\.1 200 OK/g)?.length).toBe(expected);
    }
    socket.destroy();
  });
});
