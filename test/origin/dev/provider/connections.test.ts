import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Provider, startProvider } from '../../../../origin/dev/provider.ts';
import { open, rawPost, untilEnd, untilText } from './reading.ts';

const CHAT = '/v1/chat/completions';

describe("the provider's connections", () => {
  let provider: Provider;

  beforeAll(async () => {
    provider = await startProvider({ name: 'fra' });
  });
  afterEach(() => provider.reset());
  afterAll(() => provider.close());

  const post = () =>
    fetch(`${provider.url}${CHAT}`, { method: 'POST', body: JSON.stringify({ model: 'large' }) });

  it('cuts and resets before the headers, and after them before the body', async () => {
    for (const ending of ['cut', 'reset', 'end'] as const) {
      provider.order({ fault: { at: 'before_headers', ending } });
      await expect(post()).rejects.toThrow('fetch failed');
    }
    provider.order({ fault: { at: 'before_body', ending: 'cut' } });
    const answer = await post();
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow();
  });

  it('ends a plain answer short of its content-length, in good order and not', async () => {
    for (const ending of ['end', 'cut'] as const) {
      provider.order({ fault: { at: { bytes: 10 }, ending } });
      const socket = await open(provider.port);
      socket.write(rawPost(CHAT, { model: 'large' }));
      const [head, body] = (await untilEnd(socket)).toString().split('\r\n\r\n');
      expect(Number(head?.match(/content-length: (\d+)/)?.[1])).toBeGreaterThan(100);
      expect(body).toHaveLength(10);
    }
  });

  it('announces more than it sends', async () => {
    provider.order({ overstateLength: 5, body: '{}' });
    const socket = await open(provider.port);
    socket.write(rawPost(CHAT, { model: 'large' }));
    const answer = (await untilEnd(socket)).toString();
    expect(answer).toContain('content-length: 7\r\n');
    expect(answer).toMatch(/\r\n\r\n\{\}$/);
  });

  it('sends raw bytes in place of an answer', async () => {
    const answer = Buffer.from('SSH-2.0-not-http\r\n');
    provider.order({ raw: { bytes: { base64: answer.toString('base64') } } });
    const socket = await open(provider.port);
    socket.write(rawPost(CHAT, { model: 'large' }));
    expect(await untilEnd(socket)).toEqual(answer);
  });

  it('sends early hints before the answer', async () => {
    provider.order({ interim: [103], connection: 'close_announced' });
    const socket = await open(provider.port);
    socket.write(rawPost(CHAT, { model: 'large' }));
    expect((await untilEnd(socket)).toString()).toMatch(
      /^HTTP\/1\.1 103 Early Hints\r\n\r\nHTTP\/1\.1 200 OK\r\n/,
    );
  });

  it('keeps a connection, closes it without a word, or resets it exactly on the next request', async () => {
    const socket = await open(provider.port);
    const answered = async () => {
      socket.write(rawPost(CHAT, { model: 'large' }));
      return await untilText(socket, '"usage"');
    };
    await answered();
    provider.order({ connection: 'reset_on_next' });
    expect(await answered()).not.toMatch(/connection: close/i);
    socket.write(rawPost(CHAT, { model: 'large' }));
    const [error] = await once(socket, 'error');
    expect(error).toMatchObject({ code: 'ECONNRESET' });
    expect(await provider.received[2]?.closed).toBe('cut');

    provider.order({ connection: 'close_silently' });
    const other = await open(provider.port);
    other.write(rawPost(CHAT, { model: 'large' }));
    expect((await untilEnd(other)).toString()).toMatch(/connection: keep-alive/i);
  });

  it('closes idle connections when told to', async () => {
    const socket = await open(provider.port);
    socket.write(rawPost(CHAT, { model: 'large' }));
    await untilText(socket, '"usage"');
    expect(provider.openConnections).toBeGreaterThan(0);
    const closed = once(socket, 'close');
    provider.closeIdleConnections();
    await closed;
  });

  it('answers expect: 100-continue with the interim answer, without it, or with a refusal', async () => {
    const call = rawPost(CHAT, { model: 'large' }, 'expect: 100-continue', 'connection: close');
    const [head = '', body = ''] = call.split(/(?<=\r\n\r\n)/);

    const polite = await open(provider.port);
    polite.write(head);
    await untilText(polite, 'HTTP/1.1 100 Continue\r\n\r\n');
    polite.write(body);
    expect((await untilEnd(polite)).toString()).toMatch(/^HTTP\/1\.1 200 OK/);

    provider.order({ expectContinue: 'never' });
    const mute = await open(provider.port);
    mute.write(head + body);
    expect((await untilEnd(mute)).toString()).toMatch(/^HTTP\/1\.1 200 OK/);

    provider.order({ expectContinue: 'refuse' });
    const refused = await open(provider.port);
    refused.write(head);
    expect(await untilText(refused, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 417 /);
    refused.destroy();
  });

  it('answers early, before the body has come, and holds a body back that it does not read yet', async () => {
    provider.order({ early: true, status: 413 }, { times: 1 });
    const head = `POST ${CHAT} HTTP/1.1\r\nhost: provider\r\ncontent-length: 100000\r\n\r\n{`;
    const socket = await open(provider.port);
    socket.write(head);
    expect(await untilText(socket, 'request')).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();

    provider.order({ gate: 'body' });
    const other = await open(provider.port);
    other.write(rawPost(CHAT, { model: 'large' }));
    const held = await provider.waitFor(({ heldAt }) => heldAt === 'body', { receiving: true });
    expect(held.body).toHaveLength(0);
    provider.release('body');
    await untilText(other, '"usage"');
    expect(held.model).toBe('large');
    other.destroy();
  });

  it('lists a request whose caller hung up before its body was there', async () => {
    const socket = await open(provider.port);
    socket.write(`POST ${CHAT} HTTP/1.1\r\nhost: provider\r\ncontent-length: 100000\r\n\r\n{`);
    const arriving = await provider.waitFor(({ path }) => path === CHAT, { receiving: true });
    expect(arriving.stage).toBe('receiving');
    socket.destroy();
    expect(await arriving.closed).toBe('aborted');
  });

  it('cuts an upload off when it is reset', async () => {
    const socket = await open(provider.port);
    socket.write(`POST ${CHAT} HTTP/1.1\r\nhost: provider\r\ncontent-length: 100000\r\n\r\n{`);
    const arriving = await provider.waitFor(({ path }) => path === CHAT, { receiving: true });
    provider.reset();
    expect(await arriving.closed).toBe('cut');
    expect(await untilEnd(socket)).toHaveLength(0);
  });

  it('keeps the connection of an answer that was just read when it is reset', async () => {
    const socket = await open(provider.port);
    for (let call = 0; call < 3; call += 1) {
      socket.write(rawPost(CHAT, { model: 'large' }));
      await untilText(socket, '"usage"');
      provider.reset();
    }
    socket.destroy();
  });

  it('gives up waiting for a request that never comes, and says what came instead', async () => {
    await (await post()).text();
    const wait = provider.waitFor(({ path }) => path === '/never', { timeoutMs: 1 });
    await expect(wait).rejects.toThrow(`latest of 1: POST ${CHAT}`);
  });
});
