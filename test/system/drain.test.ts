import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { OrderInput } from '../../origin/dev/provider.ts';
import { chat } from '../support/calls.ts';
import { callOrigin, type DirectOrigin, directHeaders, startDirect } from '../support/direct.ts';
import { ManualClock, settled } from '../support/manual-clock.ts';
import { endedRecords } from '../support/served.ts';

const DRAIN_MS = 20_000;
const PATH = '/v1/chat/completions';

let clock: ManualClock;
let origin: DirectOrigin;

async function start(): Promise<void> {
  clock = new ManualClock();
  origin = await startDirect({ setup: { clock }, limits: { drain_ms: DRAIN_MS } });
}
afterEach(() => origin.zone.close());

function begin(id: string, stream: boolean, order: OrderInput) {
  origin.zone.provider('fra').order(order, { times: 1 });
  const headers = { 'x-request-id': id };
  return callOrigin(origin, PATH, { headers, body: chat('support-chat', 'hello', { stream }) });
}

const held = (count: number) =>
  origin.zone.provider('fra').waitFor(({ index, heldAt }) => index === count - 1 && heldAt !== undefined);

/** A connection on which a request has begun, and everything that comes back on it. */
async function rawSocket(firstBytes: string): Promise<{ socket: Socket; heard: () => string }> {
  const { hostname, port } = new URL(origin.zone.origin.url);
  const socket = connect(Number(port), hostname);
  let heard = '';
  socket.on('data', (chunk) => {
    heard += String(chunk);
  });
  await once(socket, 'connect');
  socket.write(firstBytes);
  return { socket, heard: () => heard };
}

/** Closes the origin; the promise is for later, and the origin has stopped listening when this returns. */
async function close(): Promise<{ closed: Promise<void> }> {
  const closed = origin.zone.origin.close();
  await settled();
  return { closed };
}

describe('an origin that is told to stop', () => {
  it('lets a stream go on to its end, and takes no new connection', async () => {
    await start();
    const answer = await begin('finishes', true, { gate: 'terminator' });
    await held(1);
    const { closed } = await close();
    await expect(rawSocket('GET /healthz HTTP/1.1\r\n')).rejects.toThrow('ECONNREFUSED');
    origin.zone.provider('fra').release('terminator');
    expect(await answer.body.text()).toContain('[DONE]');
    await closed;
    expect((await endedRecords(origin.zone, 'finishes')).at(-1)?.kind).toBe('completed');
  });

  it('says that it is not ready, and serves what arrives on a connection from before for the last time', async () => {
    await start();
    const running = await begin('runs', true, { gate: 'terminator' });
    await held(1);
    const ready = await rawSocket('GET /readyz HTTP/1.1\r\n');
    const headers = Object.entries(await directHeaders(origin, PATH)).map((line) => line.join(': '));
    const body = chat('support-chat');
    const late = await rawSocket('POST /v1/chat/completions HTTP/1.1\r\n');
    // A request of which nothing has been read is none yet, and its connection would count as idle.
    await expect
      .poll(() => [ready.socket, late.socket].every((socket) => socket.bytesWritten > 20))
      .toBe(true);
    await callOrigin(origin, '/v1/models', { method: 'GET' }).then((answer) => answer.body.dump());
    const { closed } = await close();
    ready.socket.write('host: origin\r\n\r\n');
    await expect.poll(ready.heard).toContain('HTTP/1.1 503');
    late.socket.write([`host: origin`, ...headers, `content-length: ${body.length}`, '', body].join('\r\n'));
    await once(late.socket, 'close');
    expect(late.heard()).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*connection: close/i);
    origin.zone.provider('fra').release('terminator');
    await running.body.text();
    await closed;
  });

  it("ends what outlasts its limit, with the API's own words and a record each", async () => {
    await start();
    const stream = await begin('streams', true, { gate: 'frame', text: 'one two' });
    await held(1);
    const plain = begin('waits', false, { gate: 'headers' });
    await held(2);
    const half = await begin('half-told', false, {
      textBytes: 60_000,
      fault: { at: { bytes: 30_000 }, ending: 'silence' },
    });
    const headers = Object.entries({
      ...(await directHeaders(origin, PATH)),
      'content-length': '50000',
      expect: '100-continue',
      'x-request-id': 'half-sent',
    }).map((line) => line.join(': '));
    const sending = await rawSocket(
      ['POST /v1/chat/completions HTTP/1.1', 'host: o', ...headers, '', ''].join('\r\n'),
    );
    await expect.poll(sending.heard).toContain('100 Continue');

    const { closed } = await close();
    const told = [stream.body.text(), plain, half.body.text().catch(() => 'broken')] as const;
    clock.advance(DRAIN_MS);
    const [streamed, waited, brokenOff] = await Promise.all(told);
    expect(streamed).toContain('one');
    expect(streamed).toContain('upstream_interrupted');
    expect(streamed).not.toContain('[DONE]');
    expect(waited.statusCode).toBe(503);
    expect(await waited.body.json()).toMatchObject({ error: { code: 'gateway_busy' } });
    expect(brokenOff).toBe('broken');
    await expect.poll(sending.heard).toContain('gateway_busy');
    sending.socket.destroy();
    await closed;

    const last = async (id: string) => (await endedRecords(origin.zone, id)).at(-1);
    const byGateway = { kind: 'interrupted', actor: 'gateway' };
    expect(await last('streams')).toMatchObject({ ...byGateway, code: 'upstream_interrupted' });
    expect(await last('waits')).toMatchObject({ ...byGateway, code: 'gateway_busy', status: 503 });
    expect(await last('half-told')).toMatchObject(byGateway);
    expect(await last('half-sent')).toMatchObject({ kind: 'refused', code: 'gateway_busy' });
  });

  it('stops at once where nothing is under way, and only once', async () => {
    await start();
    await begin('before', true, {}).then((answer) => answer.body.text());
    await endedRecords(origin.zone, 'before');
    await Promise.all([origin.zone.origin.close(), origin.zone.origin.close()]);
    expect(clock.waiting).toBe(0);
  });
});
