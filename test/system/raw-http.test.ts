import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Provider, startProvider } from '../../origin/dev/provider.ts';
import type { AuditRecord } from '../../shared/record.ts';
import { collect, open, untilText } from '../origin/dev/provider/reading.ts';
import { type Answered, answerTo, chat, documentOf, presented, type TestCall } from '../support/calls.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { endedRecords, reached, resetProviders } from '../support/served.ts';
import { assertionOf } from '../support/worded-assertion.ts';

const CHAT = '/v1/chat/completions';
const OWN_MODEL = 'fra.support-chat-20260101';
const BODY = chat('support-chat', 'MARKER-PROMPT');
const FORWARDED = BODY.replace('support-chat', OWN_MODEL);
const JSON_TYPE = { 'content-type': 'application/json' };

let gateway: TestGateway;
let fra: Provider;
/** Headers with which a call is served. */
let acme: Record<string, string>;

beforeAll(async () => {
  gateway = await startGateway();
  fra = gateway.eu.provider('fra');
  acme = { ...presented('eu', gateway.eu.key('acme')), ...JSON_TYPE };
});
afterEach(() => resetProviders(gateway));
afterAll(() => gateway.close());

let calls = 0;
/** A request id of its own for each call, by which its records are found. */
const nextId = (): string => {
  calls += 1;
  return `raw-${calls}`;
};

const callEdge = (path: string, { headers = {}, ...rest }: TestCall = {}): Promise<Answered> =>
  answerTo(gateway.edge.url, path, { headers: { ...acme, ...headers }, ...rest });

const portOf = (url: string): number => Number(new URL(url).port);

const headOf = (line: string, headers: Readonly<Record<string, string | readonly string[]>>): string => {
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}`),
  );
  return `${[line, 'host: ai.example', ...lines].join('\r\n')}\r\n\r\n`;
};

/** Headers as the edge would send them to the origin `eu`. */
const asserted = async (target = CHAT, headers: Record<string, string> = acme) => ({
  ...headers,
  'x-residency-assertion': await assertionOf(gateway.edgeKey.private, { zone: 'eu', tenant: 'acme', target }),
});

async function connectTo(url: string): Promise<Socket> {
  const socket = await open(portOf(url));
  return socket.on('error', () => undefined);
}

/** The first answer on a connection, which is closed then: the runtime of the edge would keep it open. */
async function answerOn(socket: Socket): Promise<string> {
  let answer = Buffer.alloc(0);
  for await (const part of socket) {
    answer = Buffer.concat([answer, part]);
    const head = answer.indexOf('\r\n\r\n') + 4;
    const length = /^content-length: (\d+)\r$/im.exec(answer.toString('latin1', 0, head))?.[1];
    if (head > 3 && length !== undefined && answer.length >= head + Number(length)) break;
  }
  return answer.toString('utf8');
}

/** Sends these bytes, and gives what they are answered with. */
async function exchangeWith(url: string, request: string): Promise<string> {
  const socket = await connectTo(url);
  socket.write(request);
  return answerOn(socket);
}

/** Codes of records that all have to be refusals: the edge reports one of its own where a body breaks off. */
const refusalsIn = (records: readonly AuditRecord[]) =>
  records.map(({ kind, code }) => (kind === 'refused' ? code : kind));

const statusIn = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);

/** Resolves once an origin, which runs in this process, has the headers of the request of this id. */
function arrivalOf(id: string): Promise<void> {
  const channel = 'http.server.request.start';
  const { promise, resolve } = Promise.withResolvers<void>();
  const listen = (message: unknown) => {
    const request = typeof message === 'object' && message && 'request' in message && message.request;
    if (!(request instanceof IncomingMessage) || request.headers['x-request-id'] !== id) return;
    unsubscribe(channel, listen);
    resolve();
  };
  subscribe(channel, listen);
  return promise;
}

const bodiesUp = (): string[] => reached(gateway).map(({ request }) => request.body.toString('utf8'));

const chunked = (body: string, sizes: readonly number[], extension = '', trailer = ''): string => {
  const bytes = Buffer.from(body);
  let at = 0;
  const parts = [...sizes, bytes.length].flatMap((size) => {
    const part = bytes.subarray(at, at + size);
    at += part.length;
    return part.length === 0
      ? []
      : [`${part.length.toString(16)}${extension}\r\n${part.toString('latin1')}\r\n`];
  });
  return `${parts.join('')}0\r\n${trailer}\r\n`;
};

describe('a body that goes through edge and origin', () => {
  it.each([
    [
      'numbers beyond any double',
      '{"model":"support-chat","messages":[],"a":1e400,"b":0.1000,"c":-0,"d":1E+2}',
    ],
    [
      'escapes as they were written',
      '{"model":"support-chat","messages":["\\u00e9\\/\\ud83d\\ude00","é😀\u2028"]}',
    ],
    [
      'odd white space and key order',
      ' \r\n{ "z":[ ] ,\t"messages":[\n],\n\n"model" :\t"support-chat" ,"a":{ } }\n\n',
    ],
    [
      'unknown fields and other models inside',
      '{"messages":[{"model":"support-chat"}],"x":{"model":1},"model":"support-chat"}',
    ],
    ['a name of its model in escapes', '{"mod\\u0065l":"support-chat","messages":[]}'],
    ['fields that are there twice', '{"messages":[],"n":1,"n":1,"model":"support-chat"}'],
  ])('keeps %s', async (_, body) => {
    const place = body.lastIndexOf('"support-chat"') + 1;
    const expected = body.slice(0, place) + OWN_MODEL + body.slice(place + 'support-chat'.length);
    expect(await callEdge(CHAT, { body })).toMatchObject({ status: 200 });
    expect(bodiesUp()).toEqual([expected]);
  });

  it('may have 20 MB', async () => {
    const image = `data:image/png;base64,${Buffer.alloc(15 * 1024 * 1024, 'residency').toString('base64')}`;
    const body = chat('support-chat', image);
    expect(await callEdge(CHAT, { body })).toMatchObject({ status: 200 });
    const [up = ''] = bodiesUp();
    expect(up === body.replace('support-chat', OWN_MODEL)).toBe(true);
  });

  it.each(['the edge', 'the origin'])('may come in chunks without a length, at %s', async (place) => {
    const trailer = 'x-residency-assertion: x\r\n';
    const [url, headers, body] =
      place === 'the edge'
        ? [gateway.edge.url, acme, chunked(BODY, [1, 2, 30])]
        : [gateway.eu.origin.url, await asserted(), chunked(BODY, [1, 2, 30], ';x=y', trailer)];
    const head = headOf(`POST ${CHAT} HTTP/1.1`, { ...headers, 'transfer-encoding': 'chunked' });
    expect(statusIn(await exchangeWith(url, head + body))).toBe(200);
    expect(bodiesUp()).toEqual([FORWARDED]);
    expect(fra.received[0]?.header('content-length')).toBe(String(Buffer.byteLength(FORWARDED)));
    expect(fra.received[0]?.header('transfer-encoding')).toBeUndefined();
  });

  it('of another encoding reaches the endpoint decoded', async () => {
    const body = Buffer.from(
      await new Response(new Response(BODY).body?.pipeThrough(new CompressionStream('gzip'))).bytes(),
    );
    expect(await callEdge(CHAT, { body, headers: { 'content-encoding': 'gzip' } })).toMatchObject({
      status: 200,
    });
    expect(bodiesUp()).toEqual([FORWARDED]);
    expect(fra.received[0]?.header('content-encoding')).toBeUndefined();
  });
});

describe('a body that is not what it seems is never forwarded', () => {
  it.each([
    ['none at all', ''],
    ['invalid JSON', '{"model":"support-chat","x":MARKER}'],
    ['two models', '{"model":"support-chat","model":"MARKER"}'],
    ['two models, one in escapes', '{"model":"support-chat","\\u006dodel":"MARKER"}'],
    ['a model that is no string', '{"model":["support-chat"],"x":"MARKER"}'],
    ['a byte-order mark', '\ufeff{"model":"support-chat"}'],
    ['an array', '["MARKER"]'],
  ])('%s', async (_, body) => {
    const id = nextId();
    const answer = await callEdge(CHAT, { body, headers: { 'x-request-id': id } });
    expect(answer.status).toBe(400);
    expect(documentOf(answer)).toMatchObject({ error: { code: 'body_invalid', request_id: id } });
    expect(answer.text).not.toContain('MARKER');
    expect(answer.headers).toMatchObject({
      'x-residency-outcome': 'refused',
      'x-residency-decided-by': 'origin',
    });
    const records = await endedRecords(gateway.eu, id);
    expect(records).toMatchObject([
      { kind: 'refused', code: 'body_invalid', status: 400, tenant: 'acme', route: CHAT },
    ]);
    expect(JSON.stringify(records)).not.toContain('MARKER');
    expect(reached(gateway)).toEqual([]);
  });

  it.each(['the edge', 'the origin'])('one that ends before its length, at %s', async (place) => {
    const id = nextId();
    const [url, headers] =
      place === 'the edge' ? [gateway.edge.url, acme] : [gateway.eu.origin.url, await asserted()];
    const length = { 'content-length': String(Buffer.byteLength(BODY) + 1) };
    const arrived = arrivalOf(id);
    const socket = await connectTo(url);
    socket.write(headOf(`POST ${CHAT} HTTP/1.1`, { ...headers, ...length, 'x-request-id': id }) + BODY);
    await arrived;
    socket.end();
    await collect(socket);
    expect(refusalsIn(await endedRecords(gateway.eu, id))).toEqual(['body_invalid']);
    expect(reached(gateway)).toEqual([]);
  });

  it.each([
    ['JSON', CHAT, JSON_TYPE['content-type'], BODY.slice(0, -1)],
    [
      'a form',
      '/v1/audio/transcriptions',
      'multipart/form-data; boundary=B',
      '--B\r\ncontent-disposition: form-data; name="model"\r\n\r\nsupport-chat\r\n--B',
    ],
  ])(
    'one that breaks off between two of its chunks, as %s, though the edge ends it properly',
    async (_, path, type, part) => {
      const id = nextId();
      const headers = { ...acme, 'content-type': type, 'x-request-id': id, 'transfer-encoding': 'chunked' };
      const socket = await connectTo(gateway.edge.url);
      const length = Buffer.byteLength(part).toString(16);
      socket.write(`${headOf(`POST ${path} HTTP/1.1`, headers)}${length}\r\n${part}\r\nno chunk\r\n`);
      await answerOn(socket);
      expect(refusalsIn(await endedRecords(gateway.eu, id))).toContain('body_invalid');
      expect(reached(gateway)).toEqual([]);
    },
  );

  it('one with a length and chunks at once, beyond the one body that its chunks hold', async () => {
    const head = headOf(`POST ${CHAT} HTTP/1.1`, {
      ...acme,
      connection: 'close',
      'content-length': '4',
      'transfer-encoding': 'chunked',
    });
    const smuggled = headOf(`POST ${CHAT} HTTP/1.1`, acme);
    const throughEdge = await exchangeWith(gateway.edge.url, head + chunked(BODY, []) + smuggled);
    expect([200, 400]).toContain(statusIn(throughEdge));
    expect(bodiesUp()).toEqual(statusIn(throughEdge) === 200 ? [FORWARDED] : []);
    resetProviders(gateway);

    const direct = headOf(`POST ${CHAT} HTTP/1.1`, {
      ...(await asserted()),
      'content-length': '4',
      'transfer-encoding': 'chunked',
    });
    const atOrigin = await exchangeWith(gateway.eu.origin.url, direct + chunked(BODY, []));
    expect(statusIn(atOrigin)).toBe(400);
    expect(reached(gateway)).toEqual([]);
  });

  it('one of two lengths', async () => {
    const headers = { 'content-length': ['4', String(BODY.length)], connection: 'close' };
    const throughEdge = await exchangeWith(
      gateway.edge.url,
      headOf(`POST ${CHAT} HTTP/1.1`, { ...acme, ...headers }) + BODY,
    );
    const direct = headOf(`POST ${CHAT} HTTP/1.1`, { ...(await asserted()), ...headers }) + BODY;
    const atOrigin = await exchangeWith(gateway.eu.origin.url, direct);
    expect([statusIn(throughEdge) >= 400, statusIn(atOrigin)]).toEqual([true, 400]);
    expect(`${throughEdge}${atOrigin}`).not.toContain('MARKER');
    expect(reached(gateway)).toEqual([]);
  });
});

describe('a caller who waits with the body until it is wanted', () => {
  const waiting = {
    expect: '100-continue',
    'content-length': String(Buffer.byteLength(BODY)),
    connection: 'close',
  };

  it('is invited by the origin once admitted, and served', async () => {
    const socket = await connectTo(gateway.eu.origin.url);
    socket.write(headOf(`POST ${CHAT} HTTP/1.1`, { ...(await asserted()), ...waiting }));
    expect(await untilText(socket, '\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    expect(reached(gateway)).toEqual([]);
    socket.write(BODY);
    expect(statusIn(await answerOn(socket))).toBe(200);
    expect(bodiesUp()).toEqual([FORWARDED]);
    expect(fra.received[0]?.header('expect')).toBeUndefined();
  });

  it('is refused by the origin without being asked for the body', async () => {
    const headers = await asserted(CHAT, { ...acme, authorization: `Bearer rgk_acme_${'x'.repeat(43)}` });
    const socket = await connectTo(gateway.eu.origin.url);
    socket.write(headOf(`POST ${CHAT} HTTP/1.1`, { ...headers, ...waiting }));
    const answer = await untilText(socket, 'key_invalid');
    expect(statusIn(answer)).toBe(401);
    socket.destroy();
  });

  it('and then does not wait is served through the edge', async () => {
    const socket = await connectTo(gateway.edge.url);
    socket.write(headOf(`POST ${CHAT} HTTP/1.1`, { ...acme, ...waiting }));
    socket.write(BODY);
    expect(statusIn(await answerOn(socket))).toBe(200);
    expect(bodiesUp()).toEqual([FORWARDED]);
  });

  it('is refused at the edge from headers alone', async () => {
    const socket = await connectTo(gateway.edge.url);
    socket.write(headOf(`POST ${CHAT} HTTP/1.1`, { ...acme, ...waiting, 'x-jurisdiction': 'us' }));
    const answer = await untilText(socket, 'jurisdiction_mismatch');
    expect(statusIn(answer)).toBe(403);
    socket.destroy();
    expect(reached(gateway)).toEqual([]);
  });
});

describe('a path', () => {
  it.each([
    ['GET', '/admin/records'],
    ['GET', '/metrics'],
    ['GET', '/log/checkpoint'],
    ['POST', '//MARKER.example/v1/chat/completions'],
    ['POST', '/v1/chat/completions/'],
    ['POST', '/v1//chat/completions'],
    ['POST', '/v1/chat%2Fcompletions'],
    ['POST', '/V1/chat/completions'],
    ['POST', '/v1/MARKER'],
    ['GET', CHAT],
    ['OPTIONS', CHAT],
    ['PUT', CHAT],
    ['DELETE', '/v1/models/support-chat'],
    ['POST', '/healthz'],
  ] as const)('%s %s is no route, and its words are on no record', async (method, path) => {
    const id = nextId();
    const body = method === 'POST' ? { body: BODY } : {};
    const answer = await callEdge(path, { method, headers: { 'x-request-id': id }, ...body });
    expect(answer.status).toBe(404);
    expect(documentOf(answer)).toMatchObject({ error: { code: 'route_unknown', request_id: id } });
    const records = await endedRecords(gateway.eu, id);
    expect(records).toMatchObject([{ kind: 'refused', code: 'route_unknown', tenant: 'acme' }]);
    expect(JSON.stringify(records)).not.toContain('MARKER');
    expect(reached(gateway)).toEqual([]);
  });

  it('that only the edge may use is closed to a caller of the edge', async () => {
    const before = (await gateway.eu.records()).length;
    const answer = await callEdge('/internal/refusals', { body: '{}' });
    expect(answer.status).toBe(404);
    const added = (await gateway.eu.records()).slice(before);
    expect(added).toMatchObject([{ kind: 'refused', code: 'route_unknown', tenant: 'acme' }]);
  });

  it('may have a query, which no endpoint, record or log line sees', async () => {
    const id = nextId();
    const answer = await callEdge(`${CHAT}?x=MARKER-QUERY&api_base=http://127.0.0.1:1/`, {
      body: BODY,
      headers: { 'x-request-id': id },
    });
    expect(answer.status).toBe(200);
    expect(fra.received.map(({ path, query }) => [path, query])).toEqual([[CHAT, '']]);
    const records = await endedRecords(gateway.eu, id);
    expect(records.map(({ kind, route }) => [kind, route])).toEqual([
      ['pending', CHAT],
      ['served', CHAT],
      ['completed', CHAT],
    ]);
    expect(`${JSON.stringify(records)}${gateway.eu.logLines.join('')}`).not.toContain('MARKER');
  });

  it('in absolute form leads to no other host', async () => {
    const evil = await startProvider({ name: 'elsewhere' });
    const head = headOf(`POST ${evil.url}${CHAT} HTTP/1.1`, {
      ...acme,
      connection: 'close',
      'content-length': String(BODY.length),
    });
    await exchangeWith(gateway.edge.url, head + BODY);
    expect(reached(gateway).filter(({ endpoint }) => endpoint !== 'fra')).toEqual([]);
    const direct = headOf(`POST ${evil.url}${CHAT} HTTP/1.1`, {
      ...(await asserted()),
      connection: 'close',
      'content-length': String(BODY.length),
    });
    expect(statusIn(await exchangeWith(gateway.eu.origin.url, direct + BODY))).toBe(401);
    expect(evil.receivedTotal).toBe(0);
    await evil.close();
  });

  it('asked for by HEAD gets the headers of its answer and no body', async () => {
    const answer = await callEdge('/v1/models', { method: 'HEAD' });
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(answer.headers).toMatchObject({
      'x-residency-outcome': 'served',
      'x-residency-jurisdiction': 'eu',
    });
  });
});

describe('a caller who wants to choose the target', () => {
  const target = 'http://127.0.0.1:1/v1';
  const headers = {
    'api-base': target,
    'x-api-base': target,
    'x-base-url': target,
    'x-portkey-config': JSON.stringify({ provider: 'openai', custom_host: target }),
    'x-portkey-custom-host': target,
    'x-litellm-api-base': target,
    'helicone-target-url': target,
    'cf-aig-authorization': 'Bearer x',
    'x-forwarded-host': '127.0.0.1:1',
    'x-host-override': '127.0.0.1:1',
    'x-region': 'us-east-1',
    'x-ms-region': 'eastus',
    'inference-geo': 'us',
    forwarded: 'host=127.0.0.1:1',
    'x-original-url': '/v1/embeddings',
    'x-http-method-override': 'GET',
  };
  const members = {
    api_base: target,
    base_url: target,
    region: 'us-east-1',
    inference_geo: 'us',
    provider: { order: ['iad'], only: ['iad'], allow_fallbacks: true },
    route: 'fallback',
    models: ['iad.support-chat-20260101'],
    endpoint: 'iad',
    extra_headers: { 'x-jurisdiction': 'us' },
  };

  it.each([
    [CHAT, 'fra'],
    ['/v1/messages', 'fra-messages'],
  ])('on %s changes nothing: neither by headers nor by the body', async (route, endpoint) => {
    const id = nextId();
    const body = chat('support-chat', 'hello', members);
    const answer = await callEdge(route, { body, headers: { ...headers, 'x-request-id': id } });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'x-residency-endpoint': endpoint,
      'x-residency-region': 'eu-central-1',
      'x-residency-jurisdiction': 'eu',
    });
    const [arrival, ...others] = reached(gateway);
    expect([arrival?.endpoint, arrival?.request.path, others]).toEqual([endpoint, route, []]);
    expect(arrival?.request.body.toString()).toBe(
      body.replace('support-chat', `${endpoint}.support-chat-20260101`),
    );
    const names = arrival?.request.headers.map(([name]) => name.toLowerCase()) ?? [];
    expect(names.filter((name) => name in headers)).toEqual([]);
    const records = await endedRecords(gateway.eu, id);
    expect(records.map((record) => record.endpoint)).toEqual([endpoint, endpoint, endpoint]);
  });

  it('with an assertion and a receipt of its own is believed neither', async () => {
    const forged = await assertionOf(gateway.edgeKey.private, { zone: 'us', tenant: 'globex', target: CHAT });
    const answer = await callEdge(CHAT, {
      body: BODY,
      headers: {
        'x-residency-assertion': forged,
        'x-residency-receipt': 'MARKER-RECEIPT',
        'x-residency-endpoint': 'iad',
        'x-residency-jurisdiction': 'us',
      },
    });
    expect(answer.headers).toMatchObject({
      'x-residency-jurisdiction': 'eu',
      'x-residency-endpoint': 'fra',
      'x-residency-receipt': expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    });
    expect(reached(gateway).map(({ endpoint }) => endpoint)).toEqual(['fra']);
    expect(JSON.stringify(fra.received[0]?.headers)).not.toMatch(/x-residency|MARKER/);
  });

  it('by going past the edge is refused by the origin, body unread', async () => {
    const answer = await answerTo(gateway.eu.origin.url, CHAT, { headers: acme, body: BODY });
    expect(answer.status).toBe(401);
    expect(documentOf(answer)).toMatchObject({ error: { code: 'assertion_invalid' } });
    expect(reached(gateway)).toEqual([]);
  });
});

describe('a header that is sent twice', () => {
  const send = (headers: Record<string, string | readonly string[]>, body = BODY) =>
    exchangeWith(
      gateway.edge.url,
      headOf(`POST ${CHAT} HTTP/1.1`, {
        ...acme,
        ...headers,
        connection: 'close',
        'content-length': String(Buffer.byteLength(body)),
      }) + body,
    );

  it.each([
    ['x-jurisdiction', ['eu', 'us'], 400, 'jurisdiction_ambiguous'],
    ['x-tenant-id', ['acme', 'globex'], 400, 'tenant_invalid'],
    ['x-api-key', ['one', 'two'], 401, 'key_invalid'],
  ] as const)('%s with different values is refused', async (name, values, status, code) => {
    const answer = await send({ [name]: values });
    expect([statusIn(answer), answer.includes(`"code":"${code}"`)]).toEqual([status, true]);
    expect(reached(gateway)).toEqual([]);
  });

  it('x-workload with different values names no workload', async () => {
    const answer = await send({ 'x-workload': ['support-chat', 'embed'] }, '{"messages":[]}');
    expect([statusIn(answer), answer.includes('workload_unknown')]).toEqual([404, true]);
    expect(reached(gateway)).toEqual([]);
  });

  it('x-jurisdiction with one and the same value is served', async () => {
    expect(statusIn(await send({ 'x-jurisdiction': ['eu', 'eu'] }))).toBe(200);
    expect(reached(gateway).map(({ endpoint }) => endpoint)).toEqual(['fra']);
  });

  it('x-request-id is replaced by one id, which the records carry', async () => {
    const answer = await send({ 'x-request-id': ['one', 'two'] });
    const id = /^x-request-id: (.*)$/im.exec(answer)?.[1] ?? '';
    expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect((await endedRecords(gateway.eu, id)).map(({ kind }) => kind)).toEqual([
      'pending',
      'served',
      'completed',
    ]);
  });
});
