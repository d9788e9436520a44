import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Provider, startProvider } from '../../../../origin/dev/provider.ts';
import { open, untilText } from './reading.ts';

describe("the provider's controls for another process", () => {
  let provider: Provider;

  beforeAll(async () => {
    provider = await startProvider({ name: 'fra' });
  });
  afterEach(() => provider.reset());
  afterAll(() => provider.close());

  const tell = (command: string, document: object) =>
    fetch(`${provider.url}/_control/${command}`, { method: 'POST', body: JSON.stringify(document) });
  const chat = () =>
    fetch(`${provider.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'large', messages: ['SECRET'] }),
      headers: { authorization: 'Bearer KEY' },
    });

  it('takes an order, and forgets it at a reset', async () => {
    expect((await tell('order', { order: { status: 503 }, options: { times: 2 } })).status).toBe(200);
    expect((await chat()).status).toBe(503);
    expect((await tell('reset', {})).status).toBe(200);
    expect((await chat()).status).toBe(200);
  });

  it('opens a gate', async () => {
    await tell('order', { order: { gate: 'headers' } });
    const answer = chat();
    await provider.waitFor(({ heldAt }) => heldAt === 'headers');
    await tell('release', { point: 'headers' });
    expect((await answer).status).toBe(200);
  });

  it('tells what was called without a word of what was said, and does not count itself', async () => {
    await (await chat()).text();
    await provider.received[0]?.closed;
    const answer = await fetch(`${provider.url}/_control/received`);
    const text = await answer.text();
    expect(JSON.parse(text)).toMatchObject({
      total: 1,
      requests: [
        { index: 0, method: 'POST', path: '/v1/chat/completions', model: 'large', outcome: 'completed' },
      ],
    });
    expect(text).not.toMatch(/SECRET|KEY/);
  });

  it('refuses what is no order or no control, and says what is wrong with it', async () => {
    const wrong = await tell('order', { order: { statuss: 503 } });
    expect(wrong.status).toBe(400);
    expect(await wrong.text()).toContain('statuss');
    expect((await fetch(`${provider.url}/_control/order`, { method: 'POST', body: '{' })).status).toBe(400);
    expect((await tell('explode', {})).status).toBe(404);
  });

  it('refuses an order that is too large without waiting for its end', async () => {
    const socket = await open(provider.port);
    socket.write('POST /_control/order HTTP/1.1\r\nhost: provider\r\ncontent-length: 9999999\r\n\r\n');
    socket.write('x'.repeat(1024 * 1024 + 1));
    expect(await untilText(socket, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });
});
