import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { askAdmin, endpointOf } from '../support/admin.ts';
import { callOrigin, type DirectOrigin, startDirect } from '../support/direct.ts';

const CHAT = '/v1/chat/completions';
const SPEECH = '/v1/audio/speech';
const SECRET = 'MARKER-ANSWER';

const PATH = ['meta', 'region'];
const ABROAD = '"meta":{"region":"us-east-1"}';
const ANSWER = `{"object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"${SECRET}"}}]`;
const LYING = `${ANSWER},${ABROAD}}`;

const FRAME = `data: {"choices":[{"index":0,"delta":{"content":"${SECRET}"},"finish_reason":"stop"}]}\n\n`;
const DONE = 'data: [DONE]\n\n';

let direct: DirectOrigin;

beforeAll(async () => {
  direct = await startDirect({
    health: { probe: 'none', open_circuit_after: 1_000 },
    endpoints: [{ id: 'liar', region: 'eu-central-1' }],
    amend: (config) => ({
      ...config,
      registry: new Map([...config.registry].map(([id, one]) => [id, { ...one, regionBody: PATH }])),
    }),
  });
});
afterAll(() => direct.zone.close());
afterEach(async () => {
  liar().reset();
  await askAdmin(direct.zone, 'POST', '/admin/endpoints/liar/release', { by: 'ana', why: 'next case' });
});

const liar = () => direct.zone.provider('liar');

/** A whole answer, whose end is the end of the connection. */
function answer(body: string | Buffer, type = 'application/json', status = 200) {
  const head = `HTTP/1.1 ${status} X\r\n${type === '' ? '' : `content-type: ${type}\r\n`}connection: close\r\n\r\n`;
  const bytes = Buffer.concat([Buffer.from(head), Buffer.from(body)]);
  return { raw: { bytes: { base64: bytes.toString('base64') } } };
}

const stream = (...frames: readonly string[]) => answer(frames.join(''), 'text/event-stream');

async function call(route: string, more: object = {}) {
  const asked = { model: 'support-chat', messages: [], input: 'x', voice: 'x', ...more };
  const told = await callOrigin(direct, route, { body: JSON.stringify(asked) });
  return { status: told.statusCode, text: await told.body.text().catch(() => 'cut') };
}

const state = async () => (await endpointOf(direct.zone, 'liar')).state;

describe('evidence of another zone is no less for', () => {
  it.each([
    ['a type that is not JSON’s', answer(LYING, 'text/plain')],
    ['no type at all', answer(LYING, '')],
    ['another encoding', answer(Buffer.from(LYING, 'utf16le'))],
    ['a byte-order mark', answer(`\ufeff${LYING}`)],
    ['standing twice in one object', answer(LYING.replace('{"region"', '{"region":"us-east-1","region"'))],
    ['names in escapes', answer(LYING.replace('"region"', '"r\\u0065gion"'))],
    ['a member longer than is kept', answer(LYING.replace('{"r', `{"pad":"${'x'.repeat(70_000)}","r`))],
    ['a list around it', answer(`[${LYING}]`)],
    ['the status of a failure', answer(`{${ABROAD}}`, 'application/json', 503)],
    ['the status of a verdict on the request', answer(`{${ABROAD}}`, 'application/json', 422)],
  ])('%s', async (_, order) => {
    liar().order(order);
    const { status, text } = await call(CHAT);
    expect([status, text]).toEqual([502, expect.stringContaining('region_violation')]);
    expect(text).not.toContain(SECRET);
    expect(await state()).toBe('quarantined');
  });

  it.each([
    ['names in escapes', stream('data: {"choices":[],"meta":{"r\\u0065gion":"us-east-1"}}\n\n', FRAME, DONE)],
    ['standing behind the end in one piece', stream(FRAME, DONE, `data: {${ABROAD}}\n\n`)],
    ['standing behind the end without an end of its own', stream(FRAME, DONE, `data: {${ABROAD}}`)],
    ['an event that is too long to be read', stream(`data: {"pad":"${'x'.repeat(5_000_000)}"`)],
    [
      'eight others before it',
      stream(
        ...['central-1', 'west-1', 'west-3', 'north-1', 'south-1', 'south-2', 'central-1', 'west-1'].map(
          (name) => `data: {"choices":[],"meta":{"region":"eu-${name}"}}\n\n`,
        ),
        ...['europe-west3', 'westeurope', 'us-east-1'].map(
          (name) => `data: {"choices":[],"meta":{"region":"${name}"}}\n\n`,
        ),
        FRAME,
        DONE,
      ),
    ],
  ])('%s, in a stream', async (_, order) => {
    liar().order(order);
    const { text } = await call(CHAT, { stream: true });
    expect(text).toContain('region_violation');
    expect(text).not.toContain('[DONE]');
    expect(text.length).toBeLessThan(10_000);
    expect(await state()).toBe('quarantined');
  });
});

describe('an answer with no room for evidence', () => {
  it.each([
    ['sound', SPEECH, answer(Buffer.from([0xff, 0xf3, 0, 1, 2, 3]), 'audio/mpeg')],
    ['a verdict that is no JSON', CHAT, answer('<html></html>', 'text/html', 400)],
  ])('takes nobody out: %s', async (_, route, order) => {
    liar().order(order);
    expect((await call(route)).text).not.toContain('region_violation');
    expect(await state()).toBe('closed');
  });
});
