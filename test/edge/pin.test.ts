import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ACME, type EdgeWorld, keyOf, lines, startEdgeWorld } from '../support/edge.ts';
import { startStubOrigin } from '../support/stub-origin.ts';

const MIB = 1024 * 1024;
const PATH = '/v1/chat/completions';

let world: EdgeWorld;
beforeAll(async () => {
  world = await startEdgeWorld();
});
afterEach(() => {
  world.eu.answerCalls();
  expect(world.us.calls.all).toEqual([]);
});
afterAll(() => world.close());

const post = (body: string | Buffer | PassThrough, headers: Record<string, string> = {}) =>
  world.call(PATH, { method: 'POST', headers: { ...ACME, ...headers }, body });

/** The next bytes of a body; the body stays open. */
async function nextChunk(body: AsyncIterator<unknown>): Promise<string> {
  const { value, done } = await body.next();
  return done === true ? '(the end)' : String(value);
}

describe('a call of a tenant that may be served', () => {
  it('reaches the origin of its zone as it was sent, with the decided facts and an assertion', async () => {
    const answer = await world.call('/v1/chat/completions?a=1&b=%2F', {
      method: 'POST',
      headers: {
        ...ACME,
        'content-type': 'application/json',
        'idempotency-key': 'i-1',
        'x-workload': 'contract-review',
        'anthropic-beta': 'b1',
        'openai-beta': 'b2',
        traceparent: '00-1-2-01',
        'x-request-id': 'caller-1',
        'x-residency-policy': 'forged',
        'x-residency-assertion': 'forged',
        'mf-cf-blob': '{"colo":"FRA"}',
      },
      body: '{}',
    });
    expect([answer.statusCode, answer.headers['x-request-id']]).toEqual([200, 'caller-1']);
    const { url, method, headers } = await world.eu.calls.next();
    expect([method, url]).toEqual(['POST', '/v1/chat/completions?a=1&b=%2F']);
    expect(headers).toMatchObject({
      authorization: ACME.authorization,
      'content-type': 'application/json',
      'content-length': '2',
      'idempotency-key': 'i-1',
      'x-workload': 'contract-review',
      'anthropic-beta': 'b1',
      'openai-beta': 'b2',
      traceparent: '00-1-2-01',
      'x-jurisdiction': 'eu',
      'x-tenant-id': 'acme',
      'x-request-id': 'caller-1',
    });
    expect(Object.keys(headers).filter((name) => name.startsWith('x-residency-'))).toEqual([
      'x-residency-assertion',
    ]);
    const claims = await world.verifyAssertion(headers['x-residency-assertion'], 'eu');
    expect(claims).toMatchObject({
      sub: 'acme',
      rid: 'caller-1',
      jur: 'eu',
      htm: 'POST',
      htu: '/v1/chat/completions?a=1&b=%2F',
      tv: 7,
      colo: 'FRA',
    });
    expect(claims.exp - claims.iat).toBeCloseTo(60, 3);
  });

  it('is asked for past every cache, since a cached answer knows no zone and no caller', async () => {
    await (await world.call('/v1/receipts/a.css', { headers: ACME })).body.dump();
    expect(world.eu.calls.all.at(-1)?.headers['cache-control']).toBe('no-cache');
  });

  it('carries an assertion of its own each time', async () => {
    for (let call = 0; call < 3; call++) await (await post('{}')).body.dump();
    const jtis = await Promise.all(
      world.eu.calls.all.slice(-3).map(async ({ headers }) => {
        const { jti } = await world.verifyAssertion(headers['x-residency-assertion'], 'eu');
        return jti;
      }),
    );
    expect(new Set(jtis).size).toBe(3);
    for (const jti of jtis) expect(jti).toMatch(/^[0-9a-f]{32}$/);
  });

  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const)('passes %s', async (method) => {
    const answer = await world.call('/v1/models', { method, headers: ACME });
    expect(answer.statusCode).toBe(200);
    expect(world.eu.calls.all.at(-1)?.method).toBe(method);
  });

  it('passes 20 MB up and 20 MB down, with their lengths', async () => {
    world.eu.answerCalls((request, response) => {
      response.writeHead(200, { 'content-length': request.headers['content-length'] });
      request.pipe(response);
    });
    const sent = Buffer.alloc(20 * MIB, 'abcdefg');
    const answer = await post(sent);
    expect(answer.headers['content-length']).toBe(String(20 * MIB));
    expect(Buffer.from(await answer.body.arrayBuffer()).equals(sent)).toBe(true);
  });
});

describe('an answer', () => {
  it.each([undefined, 'gzip'])('in gzip passes byte by byte to a caller who accepts %s', async (accepted) => {
    const zipped = gzipSync('{"text":"hello"}'.repeat(100));
    world.eu.answerCalls((_request, response) => {
      const headers = { 'content-encoding': 'gzip', 'content-length': zipped.length };
      response.writeHead(422, { ...headers, 'content-type': 'application/json' }).end(zipped);
    });
    const answer = await post('{}', accepted === undefined ? {} : { 'accept-encoding': accepted });
    expect([answer.statusCode, answer.headers['content-encoding']]).toEqual([422, 'gzip']);
    expect(answer.headers['content-length']).toBe(String(zipped.length));
    expect(Buffer.from(await answer.body.arrayBuffer()).equals(zipped)).toBe(true);
    expect(world.eu.calls.all.at(-1)?.headers['accept-encoding']).toBe(accepted);
  });

  it('keeps its status and headers, but for those of the connection', async () => {
    world.eu.answerCalls((_request, response) => {
      response.writeHead(529, {
        connection: 'close',
        'keep-alive': 'timeout=5',
        'proxy-authenticate': 'Basic',
        'x-residency-outcome': 'failed',
        'x-request-id': 'not-the-callers',
        'set-cookie': ['a=1', 'b=2'],
      });
      response.end();
    });
    const { statusCode, headers } = await post('{}', { 'x-request-id': 'mine' });
    expect(statusCode).toBe(529);
    expect(headers).toMatchObject({
      'x-residency-outcome': 'failed',
      'x-request-id': 'mine',
      'set-cookie': ['a=1', 'b=2'],
    });
    expect(headers).not.toHaveProperty('keep-alive');
    expect(headers).not.toHaveProperty('proxy-authenticate');
  });

  it.each([301, 302, 303, 304, 307, 308])('of %i is neither followed nor passed on', async (status) => {
    const elsewhere = await startStubOrigin();
    world.eu.answerCalls((_request, response) => {
      response.writeHead(status, { location: `${elsewhere.url}/v1/chat/completions` }).end();
    });
    const answer = await post('{}');
    expect(answer.statusCode).toBe(503);
    expect(answer.headers).not.toHaveProperty('location');
    expect(await answer.body.text()).toContain('"code":"origin_unavailable"');
    expect(elsewhere.calls.all).toEqual([]);
    await elsewhere.close();
  });

  it.each([520, 522, 527, 530])(
    'of %i, by which Cloudflare says that no origin answered, is a refusal',
    async (status) => {
      world.eu.answerCalls((_request, response) => response.writeHead(status).end('<html>'));
      const answer = await post('{}');
      expect([answer.statusCode, answer.headers['x-residency-decided-by']]).toEqual([503, 'edge']);
    },
  );

  it('comes before the end of the body that it refuses', async () => {
    world.eu.answerCalls((_request, response) => response.writeHead(401).end('{"error":"early"}'));
    const caller = connect(Number(new URL(world.edge.url).port), '127.0.0.1');
    const head = lines({ ...ACME, 'content-length': String(10 * MIB) });
    caller.write(`POST ${PATH} HTTP/1.1\r\nhost: ai.example\r\n${head}\r\n{"messages":[`);
    let answer = '';
    for await (const chunk of caller) {
      answer += chunk;
      if (answer.includes('early')) break;
    }
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
  });
});

describe('nothing is held back', () => {
  it('on the way up: the origin reads each part while the caller has not sent the next', async () => {
    const body = new PassThrough();
    world.eu.answerCalls(() => undefined);
    const seen = world.eu.calls.all.length;
    const answer = post(body);
    body.write('part one');
    await expect.poll(() => world.eu.calls.all.length).toBe(seen + 1);
    const request = world.eu.calls.all.at(-1);
    const received = (request ?? body)[Symbol.asyncIterator]();
    expect(await nextChunk(received)).toBe('part one');
    body.write('part two');
    expect(await nextChunk(received)).toBe('part two');
    body.destroy();
    await expect(answer).rejects.toThrow();
  });

  it('on the way down: the caller reads each event while the origin has not sent the next', async () => {
    let send = (_event: string): void => undefined;
    world.eu.answerCalls((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      send = (event) => response.write(event);
    });
    const answer = await post('{}');
    expect(answer.headers['content-type']).toBe('text/event-stream');
    const events = answer.body[Symbol.asyncIterator]();
    for (const event of ['data: {"a":1}\n\n', 'data: \u20ac\u2028\r\n\r\n', ': ping\n\n']) {
      send(event);
      expect(await nextChunk(events)).toBe(event);
    }
    answer.body.destroy();
  });
});

describe('a caller who hangs up', () => {
  const hungUp = (request: IncomingMessage): Promise<unknown> =>
    new Promise((resolve) => request.socket.once('close', resolve));

  let reports = 0;
  const reportsSoFar = () => world.eu.reports.all.length + world.us.reports.all.length;
  beforeEach(() => {
    reports = reportsSoFar();
  });
  afterEach(async () => {
    world.eu.answerCalls();
    expect((await post('{}')).statusCode).toBe(200);
    // Nobody was refused, so nobody is told of a refusal.
    expect(reportsSoFar()).toBe(reports);
  });

  it('while waiting for the first byte ends the call at the origin', async () => {
    const arrived = new Promise<IncomingMessage>((resolve) => world.eu.answerCalls(resolve));
    const caller = new AbortController();
    const answer = world.call(PATH, { method: 'POST', headers: ACME, body: '{}', signal: caller.signal });
    const request = await arrived;
    caller.abort();
    await expect(answer).rejects.toThrow();
    await hungUp(request);
  });

  it('in the middle of a stream ends the call at the origin', async () => {
    const arrived = new Promise<IncomingMessage>((resolve) => {
      world.eu.answerCalls((request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
        resolve(request);
      });
    });
    const answer = await post('{}');
    await nextChunk(answer.body[Symbol.asyncIterator]());
    const request = await arrived;
    answer.body.once('error', () => undefined).destroy();
    await hungUp(request);
  });

  it('in the middle of the body ends the call at the origin', async () => {
    const arrived = new Promise<IncomingMessage>((resolve) => world.eu.answerCalls(resolve));
    const body = new PassThrough();
    const answer = post(body, { 'content-length': String(MIB) });
    body.write('{');
    const request = await arrived;
    body.destroy();
    await expect(answer).rejects.toThrow();
    await hungUp(request);
  });

  it.each([
    ['with a length', `content-length: ${MIB}`, '{"model":'],
    ['in chunks', 'transfer-encoding: chunked', '9\r\n{"model":\r\n'],
  ])(
    'behind the first bytes of a body %s is never told as an origin that broke',
    async (_, framing, part) => {
      const callers = Array.from({ length: 40 }, async (_caller, turn) => {
        const caller = connect(Number(new URL(world.edge.url).port), '127.0.0.1');
        const ended = once(caller, 'close');
        caller
          .resume()
          .write(`POST ${PATH} HTTP/1.1\r\nhost: ai.example\r\n${lines(ACME)}${framing}\r\n\r\n`);
        // A process that ends and one that is ended close in these two ways.
        if (turn % 2 === 0) caller.end(part);
        else caller.write(part, () => caller.resetAndDestroy());
        await ended;
      });
      await Promise.all(callers);
    },
  );
});

describe('an origin that dies', () => {
  it('before it has answered is unavailable, and no other is asked', async () => {
    world.eu.answerCalls((request) => request.socket.destroy());
    const answer = await post('{}');
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '2']);
    expect(await answer.body.text()).toContain('"code":"origin_unavailable"');
  });

  it('in the middle of a body of known length leaves an answer that is visibly cut', async () => {
    world.eu.answerCalls((request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('half');
      setImmediate(() => request.socket.destroy());
    });
    const answer = await post('{}');
    await expect(answer.body.text()).rejects.toThrow();
  });

  it('does not spoil the next call', async () => {
    expect(
      (await world.call('/v1/models', { headers: { ...ACME, 'x-api-key': keyOf('acme') } })).statusCode,
    ).toBe(200);
  });
});
