import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { MODEL_ROUTES } from '../../shared/routes.ts';
import { answerTo, chat, documentOf, presented, type TestCall } from '../support/calls.ts';
import {
  callOrigin,
  type DirectOrigin,
  directHeaders,
  resetZone,
  startDirect,
  TWO_OF_EACH,
} from '../support/direct.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ManualClock, settled } from '../support/manual-clock.ts';
import { endedRecords } from '../support/served.ts';
import { modelOf } from '../support/zone.ts';

const MIB = 1024 * 1024;

/** A small limit and room for four bodies of that size, at an origin whose time stands still. */
const LIMIT = 64 * 1024;
const ROOM = 4;
/** One tenant may take half of the room for bodies. */
const TENANTS_SHARING = 2;
const IDLE_MS = 30_000;

let gateway: TestGateway;
let small: DirectOrigin;
const clock = new ManualClock();

beforeAll(async () => {
  [gateway, small] = await Promise.all([
    startGateway({ eu: { endpoints: TWO_OF_EACH } }),
    startDirect({
      setup: { clock },
      tenants: [{ id: 'acme' }, { id: 'globex' }],
      limits: {
        body_bytes: LIMIT,
        buffered_body_bytes: ROOM * LIMIT * TENANTS_SHARING,
        body_idle_ms: IDLE_MS,
      },
    }),
  ]);
});
afterAll(async () => {
  await gateway.close();
  await small.zone.close();
});
beforeEach(() => {
  resetZone(gateway.eu);
  resetZone(small.zone);
});

const PATH = '/v1/chat/completions';

const call = (path: string, { headers, ...rest }: TestCall) =>
  answerTo(gateway.edge.url, path, {
    headers: { ...presented('eu', gateway.eu.key('acme')), 'content-type': 'application/json', ...headers },
    ...rest,
  });

const callSmall = async (path: string, options: TestCall, tenant = 'acme') => {
  const { statusCode: status, headers, body } = await callOrigin({ ...small, tenant }, path, options);
  return { status, headers, text: await body.text() };
};

const reached = ({ zone }: Pick<DirectOrigin, 'zone'>) =>
  [...zone.providers.values()].reduce((sum, { receivedTotal }) => sum + receivedTotal, 0);

/** A body of exactly so many bytes. */
const bodyOf = (bytes: number): string => {
  const empty = chat('support-chat', '');
  return chat('support-chat', 'x'.repeat(bytes - empty.length));
};

describe('a body of any honest kind', () => {
  it('of 20 MB arrives as it was sent, but for the model', async () => {
    const body = chat('support-chat', 'iVBORw0KGgo'.repeat(1_900_000));
    expect(body.length).toBeGreaterThan(20_000_000);
    const answer = await call(PATH, { body });
    expect(answer.status).toBe(200);
    const [arrival] = gateway.eu.provider('fra').received;
    expect(
      arrival?.body.equals(Buffer.from(body.replace('support-chat', modelOf('fra', 'support-chat')))),
    ).toBe(true);
    expect(arrival?.header('content-length')).toBe(String(arrival?.body.length));
    const records = await endedRecords(gateway.eu, String(answer.headers['x-request-id']));
    expect(records.at(-1)).toMatchObject({ kind: 'completed', request_bytes: body.length });
  });

  it('a form with an audio file arrives with the file as it was', async () => {
    const audio = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 256));
    const form = Buffer.concat([
      Buffer.from('--b0undary\r\ncontent-disposition: form-data; name="model"\r\n\r\nsupport-chat\r\n'),
      Buffer.from('--b0undary\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n'),
      audio,
      Buffer.from('\r\n--b0undary--\r\n'),
    ]);
    const headers = { 'content-type': 'multipart/form-data; boundary=b0undary' };
    const answer = await call('/v1/audio/transcriptions', { body: form, headers });
    expect(answer.status).toBe(200);
    const [arrival] = gateway.eu.provider('fra').received;
    expect(arrival?.body.includes(audio)).toBe(true);
    expect(arrival?.model).toBe(modelOf('fra', 'support-chat'));
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)('in %s is read, and goes up plain', async (encoding, encode) => {
    const body = chat('support-chat', 'hello '.repeat(1_000));
    const answer = await call(PATH, { body: encode(body), headers: { 'content-encoding': encoding } });
    expect(answer.status).toBe(200);
    const [arrival] = gateway.eu.provider('fra').received;
    expect(arrival?.body.toString()).toBe(body.replace('support-chat', modelOf('fra', 'support-chat')));
    expect(arrival?.header('content-encoding')).toBeUndefined();
  });

  it('nested a hundred thousand deep goes up as it is', async () => {
    gateway.eu.provider('fra').order({ body: '{}' });
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const answer = await call(PATH, { body: `{"model":"support-chat","messages":${deep}}` });
    expect(answer.status).toBe(200);
    expect(gateway.eu.provider('fra').received[0]?.body.includes(deep)).toBe(true);
  });
});

describe('a body that cannot be used', () => {
  it.each<[string, Buffer | string, Record<string, string>]>([
    ['none at all', '', {}],
    ['no JSON', '{"model":"support-chat",', {}],
    ['no object', '["support-chat"]', {}],
    ['two models', '{"model":"support-chat","model":"embed"}', {}],
    ['two models, one of them in escapes', '{"model":"support-chat","mod\\u0065l":"embed"}', {}],
    ['a model that is no text', '{"model":["support-chat"]}', {}],
    ['a byte-order mark', `\ufeff${chat('support-chat')}`, {}],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), {}],
    ['an unknown encoding', chat('support-chat'), { 'content-encoding': 'rot13' }],
    ['a broken encoding', chat('support-chat'), { 'content-encoding': 'gzip' }],
  ])('is refused with its reason in both APIs: %s', async (_, body, headers) => {
    for (const path of [PATH, '/v1/messages']) {
      const answer = await call(path, { body, headers });
      expect(answer.status).toBe(400);
      expect(documentOf(answer)).toMatchObject({
        ...(path === '/v1/messages' && { type: 'error' }),
        error: { code: 'body_invalid', type: 'invalid_request_error' },
      });
      const records = await endedRecords(gateway.eu, String(answer.headers['x-request-id']));
      expect(records).toMatchObject([{ kind: 'refused', code: 'body_invalid', status: 400 }]);
    }
    expect(reached({ zone: gateway.eu })).toBe(0);
  });
});

describe.each(MODEL_ROUTES)('the size of a body on $path', ({ path, api }) => {
  const tooLarge = {
    ...(api === 'anthropic' && { type: 'error' }),
    error: { code: 'body_too_large', message: expect.stringContaining(`body_bytes of ${LIMIT} bytes`) },
  };

  it('is the same limit however it is sent, with the same refusal', async () => {
    const over = bodyOf(LIMIT + 1);
    const announced = await callSmall(path, { body: over });
    const chunked = await callSmall(path, { body: Readable.from([over.slice(0, LIMIT), over.slice(LIMIT)]) });
    const encoded = await callSmall(path, { body: gzipSync(over), headers: { 'content-encoding': 'gzip' } });
    for (const answer of [announced, chunked, encoded]) {
      expect(answer.status).toBe(413);
      expect(documentOf(answer)).toMatchObject(tooLarge);
    }
    expect(reached(small)).toBe(0);
  });
});

const JSON_PATHS = MODEL_ROUTES.filter(({ body }) => body === 'json').map(({ path }) => path);

describe.each(JSON_PATHS)('a body of exactly the limit on %s', (path) => {
  it('is not too large, with its length announced or not', async () => {
    const body = bodyOf(LIMIT);
    for (const sent of [body, Readable.from([body])]) {
      const { text } = await callSmall(path, { body: sent });
      expect(text).not.toContain('body_too_large');
    }
    const sizes = [...small.zone.providers.values()].flatMap(({ received }) =>
      received.map((one) => one.body.length),
    );
    expect(sizes.every((size) => size > LIMIT)).toBe(true);
    expect(sizes.length).toBe(2);
  });
});

describe('many large bodies at once', () => {
  it('fill their room and no more; the rest are told so, and room comes back', async () => {
    small.zone.provider('fra').order({ gate: 'headers' });
    const body = bodyOf(LIMIT);
    const calls = Array.from({ length: 20 }, () => callSmall(PATH, { body }));
    await small.zone
      .provider('fra')
      .waitFor(({ index, heldAt }) => index === ROOM - 1 && heldAt === 'headers');
    const refused: string[] = [];
    for (const one of calls) void one.then(({ status, text }) => status === 503 && refused.push(text));
    await expect.poll(() => refused.length).toBe(20 - ROOM);
    expect(refused.every((text) => text.includes('buffered_body_bytes'))).toBe(true);
    small.zone.provider('fra').release('headers');
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBe(ROOM);
    expect(reached(small)).toBe(ROOM);
    expect((await callSmall(PATH, { body })).status).toBe(200);
  });

  it('of one tenant leave half of the room to the others', async () => {
    small.zone.provider('fra').order({ gate: 'headers' });
    const body = bodyOf(LIMIT);
    const burst = (tenant: string) =>
      Array.from({ length: ROOM + 1 }, () => callSmall(PATH, { body }, tenant).then(({ status }) => status));
    const first = burst('acme');
    expect(await Promise.race(first)).toBe(503);
    const second = burst('globex');
    expect(await Promise.race(second)).toBe(503);
    await small.zone.provider('fra').waitFor(({ index }) => index === 2 * ROOM - 1);
    small.zone.provider('fra').release('headers');
    for (const statuses of [await Promise.all(first), await Promise.all(second)]) {
      expect(statuses.toSorted()).toEqual([...Array(ROOM).fill(200), 503]);
    }
  });

  it('give their room back when the answer begins, and when an encoded one is known to be short', async () => {
    small.zone.provider('fra').order({ gate: 'frame', text: 'one two' });
    const stream = chat('support-chat', 'x'.repeat(LIMIT - 200), { stream: true });
    const running = await Promise.all(
      Array.from({ length: ROOM }, () => callOrigin(small, PATH, { body: stream })),
    );
    expect(running.map(({ statusCode }) => statusCode)).toEqual(Array(ROOM).fill(200));
    small.zone.provider('fra').order({ gate: 'headers' });
    const short = gzipSync(chat('support-chat'));
    const encoded: ReturnType<typeof callSmall>[] = [];
    const headers = { 'content-encoding': 'gzip' };
    for (let turn = 0; turn < 2 * ROOM; turn += 1) {
      encoded.push(callSmall(PATH, { body: short, headers }));
      const last = ROOM + turn;
      await small.zone.provider('fra').waitFor(({ index, heldAt }) => index === last && heldAt === 'headers');
    }
    small.zone.provider('fra').release('frame');
    small.zone.provider('fra').release('headers');
    for (const { body } of running) await body.dump();
    expect((await Promise.all(encoded)).map(({ status }) => status)).toEqual(Array(2 * ROOM).fill(200));
  });

  it('are not kept in memory while their answers run', async () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const held = () => {
      collect();
      return process.memoryUsage().arrayBuffers / MIB;
    };
    const direct = { zone: gateway.eu, name: 'eu', edgeKey: gateway.edgeKey, tenant: 'acme' } as const;
    gateway.eu.provider('fra').order({ gate: 'frame', text: 'one two' });
    const before = held();
    const piece = Buffer.alloc(MIB, 'x');
    const sent = function* () {
      yield Buffer.from('{"model":"support-chat","stream":true,"messages":[{"role":"user","content":"');
      for (let turn = 0; turn < 16; turn += 1) yield piece;
      yield Buffer.from('"}]}');
    };
    const running = await Promise.all(
      Array.from({ length: 4 }, () => callOrigin(direct, PATH, { body: Readable.from(sent()) })),
    );
    // The endpoint, which runs in this process too, keeps what reached it.
    const ofEndpoint =
      gateway.eu.provider('fra').received.reduce((sum, { body }) => sum + body.length, 0) / MIB;
    expect(ofEndpoint).toBeGreaterThan(60);
    await expect.poll(() => held() - before - ofEndpoint, { timeout: 5_000 }).toBeLessThan(12);
    gateway.eu.provider('fra').release('frame');
    for (const { body } of running) await body.dump();
  });
});

/** A request as bytes, and what comes back. */
async function raw(extra: Record<string, string>): Promise<{ socket: Socket; heard: () => string }> {
  const { hostname, port } = new URL(small.zone.origin.url);
  const lines = Object.entries({ ...(await directHeaders(small, PATH)), ...extra }).map((line) =>
    line.join(': '),
  );
  const socket = connect(Number(port), hostname);
  let heard = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    heard += String(chunk);
  });
  socket.write(['POST /v1/chat/completions HTTP/1.1', 'host: origin', ...lines, '', ''].join('\r\n'));
  return { socket, heard: () => heard };
}

describe('a caller that asks before it sends', () => {
  it('is asked for the body once it is admitted', async () => {
    const body = chat('support-chat');
    const { socket, heard } = await raw({ expect: '100-continue', 'content-length': String(body.length) });
    await expect.poll(heard).toContain('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(body);
    await expect.poll(heard).toContain('HTTP/1.1 200 OK');
    socket.destroy();
  });

  it.each([
    ['too large a body', { 'content-length': String(LIMIT + 1) }, 'HTTP/1.1 413'],
    [
      'a wrong key',
      { authorization: `Bearer rgk_acme_${'A'.repeat(43)}`, 'content-length': '9' },
      'HTTP/1.1 401',
    ],
    ['an unknown encoding', { 'content-encoding': 'rot13', 'content-length': '9' }, 'HTTP/1.1 400'],
  ])('is never asked for the body with %s', async (_, headers, status) => {
    const { socket, heard } = await raw({ expect: '100-continue', ...headers });
    await expect.poll(heard).toContain(status);
    expect(heard()).not.toContain('100 Continue');
    socket.destroy();
  });
});

describe('a body that stops arriving', () => {
  it('is refused when its time is up, and gives its place back', async () => {
    const { socket, heard } = await raw({ expect: '100-continue', 'content-length': String(LIMIT) });
    await expect.poll(heard).toContain('100 Continue');
    clock.advance(IDLE_MS - 1);
    await settled();
    expect(heard()).not.toContain('HTTP/1.1 400');
    clock.advance(1);
    await expect.poll(heard).toContain('HTTP/1.1 400');
    expect(heard()).toContain('body_idle_ms');
    socket.destroy();
    const body = bodyOf(LIMIT);
    const all = await Promise.all(Array.from({ length: ROOM }, () => callSmall(PATH, { body })));
    expect(all.map(({ status }) => status)).toEqual(Array(ROOM).fill(200));
  });
});

describe('a body that arrives slowly', () => {
  const PAUSE_MS = 9_000;

  /** Sends the pieces one by one, each read before the next is sent, and lets time pass before each. */
  async function drip(pieces: readonly string[]) {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const { socket, heard } = await raw({ expect: '100-continue', 'content-length': String(length) });
    await expect.poll(heard).toContain('100 Continue');
    const timers = vi.spyOn(clock, 'setTimeout');
    for (const piece of pieces) {
      clock.advance(PAUSE_MS);
      const before = timers.mock.calls.length;
      socket.write(piece);
      // The time for silence begins anew with each piece that is read.
      await expect.poll(() => timers.mock.calls.length).toBeGreaterThan(before);
    }
    timers.mockRestore();
    return { socket, heard };
  }

  it('is ended where it trickles, though it is never still for long', async () => {
    const { socket, heard } = await drip(Array(4).fill('x'.repeat(100)));
    await expect.poll(heard).toContain('HTTP/1.1 400');
    expect(heard()).toContain('more slowly than 8 bytes a millisecond');
    expect(reached(small)).toBe(0);
    socket.destroy();
  });

  it('is waited for as long where it makes its way', async () => {
    const body = bodyOf(4 * 16_000);
    const { socket, heard } = await drip(body.match(/.{16000}/g) ?? []);
    await expect.poll(heard).toContain('HTTP/1.1 200');
    socket.destroy();
  });
});

describe('a caller that sends everything before it reads', () => {
  it('still gets the refusal of a body that is too large', async () => {
    const { socket, heard } = await raw({ 'transfer-encoding': 'chunked' });
    socket.pause();
    const piece = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    for (let turn = 0; turn < 160; turn += 1) {
      if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve));
    }
    socket.write('0\r\n\r\n');
    socket.resume();
    await expect.poll(heard).toContain('HTTP/1.1 413');
    socket.destroy();
  });
});
