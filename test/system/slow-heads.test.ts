import type { RequestListener, ServerOptions } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { chat } from '../support/calls.ts';
import { callOrigin, type DirectOrigin, startDirect } from '../support/direct.ts';
import { RawClient } from '../support/raw-client.ts';

/** Node measures the time of connections by itself: here by a clock that runs so much faster. */
const FASTER = 50;

const faster = ({ headersTimeout, connectionsCheckingInterval, ...rest }: ServerOptions): ServerOptions => ({
  ...rest,
  ...(headersTimeout !== undefined && { headersTimeout: headersTimeout / FASTER }),
  ...(connectionsCheckingInterval !== undefined && {
    connectionsCheckingInterval: connectionsCheckingInterval / FASTER,
  }),
});

vi.mock('node:http', async (original) => {
  const http = await original<typeof import('node:http')>();
  const createServer = (options: ServerOptions | RequestListener = {}, listener?: RequestListener) =>
    typeof options === 'function' ? http.createServer(options) : http.createServer(faster(options), listener);
  return { ...http, createServer };
});

const PATH = '/v1/chat/completions';

let origin: DirectOrigin;
beforeAll(async () => {
  origin = await startDirect();
});
afterAll(() => origin.zone.close());

describe('a caller who is slow with the head of its request', () => {
  it.each([
    ['says nothing', ''],
    ['stops in the request line', 'POST /v1/chat'],
    ['stops between two headers', `POST ${PATH} HTTP/1.1\r\nhost: origin\r\n`],
    ['stops in a header', `POST ${PATH} HTTP/1.1\r\nhost: origin\r\nx-note: MARKER`],
  ])('and %s is let go with a word why, while others are served', async (_, head) => {
    const slow = new RawClient(origin.zone.origin.url);
    slow.send(head);
    const served = await callOrigin(origin, PATH, { body: chat('support-chat') });
    expect(served.statusCode).toBe(200);
    await served.body.dump();
    const { status, body } = await slow.answer();
    expect([status, body]).toEqual([400, expect.stringContaining('did not arrive whole in time')]);
    expect(body).not.toContain('MARKER');
    await slow.closed();
  });
});
