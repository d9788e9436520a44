import { request as httpRequest, type IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ZodError } from 'zod';
import { MAX_ORDERS } from '../../../../origin/dev/provider/order-book.ts';
import { type Provider, startProvider } from '../../../../origin/dev/provider.ts';
import { collect, open, rawPost, untilEnd } from './reading.ts';

describe('the provider under orders', () => {
  let provider: Provider;

  beforeAll(async () => {
    provider = await startProvider({
      name: 'fra',
      region: { header: 'x-ms-region', value: 'Sweden Central' },
    });
  });
  afterEach(() => provider.reset());
  afterAll(() => provider.close());

  const post = (path: string, document: object, headers: Record<string, string> = {}) =>
    fetch(`${provider.url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(document),
      redirect: 'manual',
    });
  const chat = (more: object = {}) => post('/v1/chat/completions', { model: 'large', messages: [], ...more });

  /** The answer as it was sent, without the decoding that fetch does. */
  const undecoded = async (document: object): Promise<[IncomingMessage, Buffer]> => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const call = httpRequest(`${provider.url}/v1/chat/completions`, { method: 'POST' }, resolve);
    call.on('error', reject).end(JSON.stringify({ model: 'large', ...document }));
    const answer = await promise;
    return [answer, Buffer.concat(await collect<Buffer>(answer))];
  };

  it('uses orders for a number of times first, in their order, and a standing one until it is replaced', async () => {
    provider.order({ status: 500 });
    provider.order({ status: 503 }, { times: 2 });
    provider.order({ status: 429 }, { times: 1 });
    const statuses = [];
    for (let call = 0; call < 5; call += 1) statuses.push((await chat()).status);
    expect(statuses).toEqual([503, 503, 429, 500, 500]);
    provider.order({});
    expect((await chat()).status).toBe(200);
  });

  it('applies an order to the model and path it names and to no other', async () => {
    provider.order({ status: 503 }, { match: { model: 'small', path: '/chat/completions' } });
    expect((await chat()).status).toBe(200);
    expect((await post('/v1/responses', { model: 'small' })).status).toBe(200);
    expect((await post('/openai/v1/chat/completions', { model: 'small' })).status).toBe(503);
  });

  it('prefers the latest of the standing orders that match', async () => {
    provider.order({ status: 500 }, { match: { model: 'large' } });
    provider.order({ status: 503 }, { match: { path: '/chat/completions' } });
    expect((await chat()).status).toBe(503);
  });

  it('refuses what is no order, and more orders than anyone needs', () => {
    expect(() => provider.order({ headers: { 'x-bad': 'a\r\nb' } })).toThrow(ZodError);
    expect(() => provider.order({ status: 42 })).toThrow(ZodError);
    for (let given = 0; given < MAX_ORDERS; given += 1) provider.order({}, { times: 1 });
    expect(() => provider.order({})).toThrow(RangeError);
  });

  it('lists each request that reached it, byte for byte, before and after the answer', async () => {
    await chat({ messages: ['Grüße'] });
    const [received] = provider.received;
    expect(received?.body.toString()).toBe('{"model":"large","messages":["Grüße"]}');
    expect(await received?.closed).toBe('completed');
    provider.reset();
    expect(provider.received).toEqual([]);
    expect(provider.receivedTotal).toBe(0);
  });

  it('keeps repeated headers apart', async () => {
    const socket = await open(provider.port);
    socket.write(rawPost('/v1/messages', { model: 'm' }, 'X-Twice: a', 'x-twice: b', 'connection: close'));
    await untilEnd(socket);
    const twice = provider.received[0]?.headers.filter(([name]) => name.toLowerCase() === 'x-twice');
    expect(twice).toEqual([
      ['X-Twice', 'a'],
      ['x-twice', 'b'],
    ]);
  });

  it('answers a request for a stream with JSON: an error, and a plain 200', async () => {
    for (const order of [{ status: 401 }, { status: 429 }, { plain: true }]) {
      provider.order(order);
      const answer = await chat({ stream: true });
      expect(answer.headers.get('content-type')).toBe('application/json');
      expect(answer.status).toBe(order.status ?? 200);
      await answer.json();
    }
  });

  it('sends a body, content type, events and status exactly as ordered', async () => {
    provider.order({ body: '<html>', contentType: 'text/html', status: 599 });
    const page = await chat({ stream: true });
    expect([page.status, page.headers.get('content-type'), await page.text()]).toEqual([
      599,
      'text/html',
      '<html>',
    ]);
    provider.order({ status: 204 });
    expect((await chat()).status).toBe(204);
    provider.order({ events: [{ event: 'odd', data: '{' }, { data: '[DONE]' }] });
    expect(await (await chat()).text()).toBe('event: odd\ndata: {\n\ndata: [DONE]\n\n');
  });

  it('adds headers that a gateway must not pass on', async () => {
    const headers = {
      'set-cookie': ['a=1', 'b=2'],
      'x-internal-host': 'gpu-7.internal',
      'x-api-key': 'sk-leak',
    };
    provider.order({ headers });
    const answer = await chat();
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(answer.headers.get('x-internal-host')).toBe('gpu-7.internal');
    expect(answer.headers.get('x-api-key')).toBe('sk-leak');
  });

  it('reports its region, another one, or none', async () => {
    const seen = [];
    for (const order of [{}, { region: 'eastus' }, { region: null }]) {
      provider.order(order);
      seen.push((await chat()).headers.get('x-ms-region'));
    }
    expect(seen).toEqual(['Sweden Central', 'eastus', null]);
  });

  it('quotes prompt and credential in an error and in a header', async () => {
    provider.order({ status: 400, echo: ['prompt', 'credential'] });
    const answer = await post(
      '/v1/chat/completions',
      { model: 'large', messages: ['PROMPT-MARK'] },
      { authorization: 'Bearer KEY-MARK' },
    );
    for (const text of [await answer.text(), answer.headers.get('x-debug-echo')]) {
      expect(text).toContain('PROMPT-MARK');
      expect(text).toContain('KEY-MARK');
    }
  });

  it('quotes only what it is told to', async () => {
    provider.order({ status: 401, echo: ['credential'] });
    const answer = await post('/v1/messages', { messages: ['PROMPT-MARK'] }, { 'x-api-key': 'KEY-MARK' });
    const text = await answer.text();
    expect(text).toContain('KEY-MARK');
    expect(text).not.toContain('PROMPT-MARK');
  });

  it('redirects', async () => {
    provider.order({ redirect: { status: 308, location: 'http://elsewhere.example/v1' } });
    const answer = await chat();
    expect([answer.status, answer.headers.get('location')]).toEqual([308, 'http://elsewhere.example/v1']);
  });

  it('encodes answers, errors and streams', async () => {
    const decode = { gzip: gunzipSync, br: brotliDecompressSync };
    for (const encoding of ['gzip', 'br'] as const) {
      for (const order of [{ encoding }, { encoding, status: 500 }]) {
        provider.order(order);
        const [answer, bytes] = await undecoded({});
        expect(answer.headers['content-encoding']).toBe(encoding);
        expect(answer.headers['content-length']).toBe(String(bytes.length));
        expect(() => JSON.parse(decode[encoding](bytes).toString())).not.toThrow();
      }
      provider.order({ encoding });
      const [, bytes] = await undecoded({ stream: true });
      expect(decode[encoding](bytes).toString()).toContain('data: [DONE]');
    }
  });

  it('hands out each event of an encoded stream so that it can be decoded at once', async () => {
    provider.order({ encoding: 'gzip', gate: 'frame' });
    const answer = await chat({ stream: true });
    const reader = (answer.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('Answered')) text += (await reader.read()).value ?? '';
    expect(provider.received[0]?.heldAt).toBe('frame');
    await reader.cancel();
  });

  it('sends a body of any size', async () => {
    provider.order({ textBytes: 3_000_000 });
    expect(await (await chat()).text()).toHaveLength(3_000_000 + (await emptyLength()));
    provider.order({ textBytes: 3_000_000 });
    const streamed = await (await chat({ stream: true })).text();
    expect(streamed.match(/x/g)).toHaveLength(3_000_000 + (streamed.match(/index/g)?.length ?? 0));
    provider.order({ textBytes: 100_000, status: 500 });
    expect((await (await chat()).text()).length).toBeGreaterThan(100_000);
  });

  async function emptyLength(): Promise<number> {
    provider.order({ text: '', usage: { input: 1, output: 750_000 } });
    return (await (await chat()).text()).length;
  }

  it('refuses as the real APIs do what no order is needed for', async () => {
    const broken = await fetch(`${provider.url}/v1/messages`, { method: 'POST', body: '{"model":' });
    expect(await broken.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
    expect((await post('/v1/chat/completions', { messages: [] })).status).toBe(400);
    expect((await post('/v1/nothing', { model: 'large' })).status).toBe(404);
  });
});
