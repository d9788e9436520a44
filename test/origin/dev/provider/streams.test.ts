import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type OrderInput, type Provider, startProvider } from '../../../../origin/dev/provider.ts';
import { open, rawPost, untilEnd, untilText } from './reading.ts';

/** Text with everything in it that a careless reader of lines or bytes trips over. */
const AWKWARD = 'line\u2028paragraph\u2029next\u0085 größe 🙂 done';

describe("the provider's event streams", () => {
  let provider: Provider;

  beforeAll(async () => {
    provider = await startProvider({ name: 'fra' });
  });
  afterEach(() => provider.reset());
  afterAll(() => provider.close());

  const stream = async (path: string, order: OrderInput): Promise<Response> => {
    provider.order(order);
    return await fetch(`${provider.url}/v1${path}`, {
      method: 'POST',
      body: JSON.stringify({ model: 'large', messages: [], stream: true }),
    });
  };
  const chunksOf = async (answer: Response): Promise<Buffer[]> => {
    const chunks: Buffer[] = [];
    for await (const chunk of answer.body ?? []) chunks.push(Buffer.from(chunk));
    return chunks;
  };

  /** The data of each event, read as the specification says, whatever the line ends. */
  const dataOf = (text: string): string[] =>
    text
      .replaceAll(/\r\n|\r/g, '\n')
      .split('\n\n')
      .map((event) =>
        event
          .split('\n')
          .filter((line) => line.startsWith('data:'))
          .map((line) => line.slice(5).replace(/^ /, ''))
          .join('\n'),
      )
      .filter((data) => data !== '');

  const contentOf = (text: string): string =>
    dataOf(text)
      .filter((data) => data !== '[DONE]')
      .map((data) => JSON.parse(data).choices[0]?.delta.content ?? '')
      .join('');

  /** Sizes of the chunks of a stream as they are on the wire, which a client may put together. */
  const chunkSizes = async (order: OrderInput): Promise<string[]> => {
    provider.order({ ...order, connection: 'close_announced' });
    const socket = await open(provider.port);
    socket.write(rawPost('/v1/messages', { model: 'large', stream: true }));
    return (await untilEnd(socket)).toString().match(/(?<=\r\n)[0-9a-f]+(?=\r\n)/g) ?? [];
  };

  it('says the same in every way that a stream can be written down', async () => {
    const wires = [
      {},
      { newline: 'crlf', space: false },
      { newline: 'cr', comments: true },
      { multiline: true, newline: 'crlf', comments: true },
      { split: 1, newline: 'crlf' },
      { coalesce: true },
    ] as const;
    for (const wire of wires) {
      const answer = await stream('/chat/completions', { text: AWKWARD, wire });
      expect(contentOf(await answer.text())).toBe(AWKWARD);
    }
  });

  it('writes each style as its name says', async () => {
    const text = async (wire: OrderInput['wire']) =>
      Buffer.concat(await chunksOf(await stream('/chat/completions', { wire }))).toString();
    expect(await text({ newline: 'cr' })).not.toContain('\n');
    expect((await text({ newline: 'crlf' })).replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    expect(await text({ space: false })).toMatch(/^data:\{/);
    expect(await text({ comments: true })).toMatch(/^: keep-alive\n\ndata: /);
    expect(await text({ multiline: true })).toMatch(/^data: \{\ndata: /);
    expect(await text({ finalBlankLine: false })).toMatch(/\n\ndata: \[DONE\]\n$/);
    expect(await text({ byteOrderMark: true })).toMatch(/^\uFEFFdata: /);
  });

  it('splits a stream at every byte, within characters and within CRLF', async () => {
    provider.order({ text: AWKWARD, wire: { split: 1, newline: 'crlf' }, connection: 'close_announced' });
    const socket = await open(provider.port);
    socket.write(rawPost('/v1/chat/completions', { model: 'large', stream: true }));
    const answer = (await untilEnd(socket)).toString('latin1');
    expect(answer.slice(answer.indexOf('\r\n\r\n') + 4)).toMatch(/^(1\r\n.\r\n)+0\r\n\r\n$/s);
  });

  it('sends a whole stream in one piece', async () => {
    const [, ...sizes] = await chunkSizes({ wire: { coalesce: true } });
    expect(sizes).toEqual(['0']);
    expect((await chunkSizes({})).length).toBeGreaterThan(8);
  });

  it('sends the finish reason and leaves the terminator out, in each API', async () => {
    const fault = { at: 'before_terminator', ending: 'end' } as const;
    const chat = await (await stream('/chat/completions', { fault })).text();
    expect(chat).toContain('"finish_reason":"stop"');
    expect(chat).not.toContain('[DONE]');
    const message = await (await stream('/messages', { fault })).text();
    expect(message).toContain('message_delta');
    expect(message).not.toContain('message_stop');
    const response = await (await stream('/responses', { fault })).text();
    expect(response).toContain('response.output_item.done');
    expect(response).not.toContain('response.completed');
  });

  it('gives an error after some content and then the usual terminator', async () => {
    const fault = { at: { contentFrames: 2 }, errorEvent: true, ending: 'terminator' } as const;
    const data = dataOf(await (await stream('/chat/completions', { fault })).text());
    expect(data.slice(1, 3).every((frame) => frame.includes('"content"'))).toBe(true);
    expect(JSON.parse(data[3] ?? '')).toMatchObject({ error: { type: 'server_error' } });
    expect(data[4]).toBe('[DONE]');
    const response = await (await stream('/responses', { fault })).text();
    expect(response).toMatch(/event: error\ndata: \{"type":"error".*\n\nevent: response\.completed/);
  });

  it('cuts and resets a stream after so many events', async () => {
    for (const ending of ['cut', 'reset'] as const) {
      const answer = await stream('/chat/completions', { fault: { at: { contentFrames: 1 }, ending } });
      expect(answer.status).toBe(200);
      await expect(answer.text()).rejects.toThrow();
      expect(await provider.received.at(-1)?.closed).toBe('cut');
      expect(provider.received.at(-1)?.outcome).toBe('cut');
    }
  });

  it('falls silent before the headers, before the content and after some, until the caller hangs up', async () => {
    const places = ['before_headers', 'before_content', 'before_terminator', { contentFrames: 1 }] as const;
    for (const [index, at] of places.entries()) {
      provider.order({ fault: { at, ending: 'silence' } });
      const abort = new AbortController();
      const call = fetch(`${provider.url}/v1/messages`, {
        method: 'POST',
        body: JSON.stringify({ model: 'large', stream: true }),
        signal: abort.signal,
      }).then((answer) => answer.text());
      const ended = expect(call).rejects.toThrow();
      const frames = [0, 3, 10, 4][index] ?? 0;
      const silent = await provider.waitFor(
        (request) => request.index === index && request.framesSent === frames,
      );
      await provider.waitFor((request) => request.index === index && request.stage === 'answering');
      expect(silent.outcome).toBeUndefined();
      abort.abort();
      await ended;
      expect(await silent.closed).toBe('aborted');
    }
  });

  it('holds the first token and each further event until it is told to go on', async () => {
    const answer = stream('/chat/completions', { gate: ['headers', 'first_token', 'frame'], text: 'a b c' });
    const held = await provider.waitFor(({ heldAt }) => heldAt === 'headers');
    provider.release('headers');
    await provider.waitFor(({ heldAt }) => heldAt === 'first_token');
    expect(held.framesSent).toBe(1);
    provider.release('first_token');
    await provider.waitFor(({ heldAt }) => heldAt === 'frame');
    expect(held.framesSent).toBe(2);
    provider.release('frame', 1);
    await provider.waitFor(({ heldAt, framesSent }) => heldAt === 'frame' && framesSent === 3);
    provider.release('frame');
    expect(contentOf(await (await answer).text())).toBe('a b c');
  });

  it('lets as many through as it is told to, and shuts a gate that is ordered again', async () => {
    provider.order({ gate: 'headers' });
    provider.release('headers', 1);
    await (await fetch(`${provider.url}/v1/models`)).text();
    for (const call of [1, 2]) {
      const answer = fetch(`${provider.url}/v1/models`);
      await provider.waitFor(({ index, heldAt }) => index === call && heldAt === 'headers');
      provider.release('headers', 1);
      expect((await answer).status).toBe(200);
    }
    provider.release('headers');
    await (await fetch(`${provider.url}/v1/models`)).text();
    provider.order({ gate: 'headers' });
    const held = fetch(`${provider.url}/v1/models`);
    await provider.waitFor(({ index, heldAt }) => index === 4 && heldAt === 'headers');
    provider.release('headers');
    await held;
  });

  it('has said everything and does not close, until it is told to', async () => {
    provider.order({ gate: 'close', connection: 'close_announced' });
    const socket = await open(provider.port);
    socket.write(rawPost('/v1/messages', { model: 'large', stream: true }));
    await untilText(socket, 'event: message_stop');
    const held = await provider.waitFor(({ heldAt }) => heldAt === 'close');
    expect(held.outcome).toBeUndefined();
    provider.release('close');
    expect(await held.closed).toBe('completed');
  });

  it('waits for an ordered delay before it goes on', async () => {
    const answer = stream('/messages', { delay: { headers: 20 } });
    const held = await provider.waitFor(({ heldAt }) => heldAt === 'headers');
    expect(held.outcome).toBeUndefined();
    await (await answer).text();
    expect(await held.closed).toBe('completed');
  });

  it('lets go of what is held when it is reset', async () => {
    const answer = stream('/chat/completions', { gate: 'headers' });
    const refused = expect(answer).rejects.toThrow();
    const held = await provider.waitFor(({ heldAt }) => heldAt === 'headers');
    provider.reset();
    await refused;
    expect(await held.closed).toBe('cut');
  });
});
