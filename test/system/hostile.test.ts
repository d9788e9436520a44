import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { END_KINDS } from '../../shared/record.ts';
import { callOrigin, type DirectOrigin, directHeaders, resetZone, startDirect } from '../support/direct.ts';
import { rawExchange } from '../support/edge.ts';
import { ManualClock } from '../support/manual-clock.ts';

const CHAT = JSON.stringify({ model: 'support-chat', messages: [{ role: 'user', content: 'hello' }] });
const STREAM = JSON.stringify({ ...JSON.parse(CHAT), stream: true });
const PATH = '/v1/chat/completions';

const clock = new ManualClock();
let direct: DirectOrigin;

beforeAll(async () => {
  direct = await startDirect({ setup: { clock } });
});
afterAll(() => direct.zone.close());
beforeEach(() => resetZone(direct.zone));

const fra = () => direct.zone.provider('fra');

async function answerOf(path: string, body = CHAT) {
  const answer = await callOrigin(direct, path, { body });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}

describe('a clock that steps back in the midst of a call', () => {
  it('leaves the caller an answer and the call one end', async () => {
    fra().order({ gate: 'headers' });
    const answer = answerOf(PATH);
    await fra().waitFor(({ heldAt }) => heldAt === 'headers');
    clock.stepWall(-3_600_000);
    fra().release('headers');
    expect((await answer).status).toBe(200);
    clock.stepWall(3_600_000);
    const id = String((await answer).headers['x-request-id']);
    const records = await direct.zone.recordsOf(id);
    expect(records.filter(({ kind }) => END_KINDS.some((end) => end === kind))).toHaveLength(1);
    expect(records.at(-1)).toMatchObject({ kind: 'completed', latency_ms: 0 });
  });
});

describe('an event stream that announces its length', () => {
  it.each([
    [
      'and leaves out its end',
      { fault: { at: 'before_terminator', ending: 'end' } } as const,
      'data: [DONE]',
    ],
    ['and goes on after its end', {}, 'data: [DONE]'],
  ])('%s is passed on without the length, since what is passed on differs', async (_, order, end) => {
    const events = 'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n';
    const body = 'fault' in order ? events : `${events}data: [DONE]\n\n\n\n: more\n\n`;
    fra().order({ body, contentType: 'text/event-stream' });
    const answer = await answerOf(PATH, STREAM);
    expect(answer.headers['content-length']).toBeUndefined();
    expect(answer.text.trim().endsWith(end)).toBe(true);
  });
});

describe('a path that is written in another way', () => {
  it.each(['/v1/%63hat/completions', '/v1/chat//completions', '/V1/chat/completions'])(
    '%s is no route, and reaches nobody',
    async (path) => {
      const answer = await answerOf(path);
      expect(answer.status).toBe(404);
      expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'route_unknown' } });
      expect(fra().receivedTotal).toBe(0);
    },
  );
});

describe('a request without a usable head', () => {
  it.each([
    ['no host', 'GET /v1/models HTTP/1.1\r\n\r\n'],
    ['a host that is none', 'GET /v1/models HTTP/1.1\r\nhost: a b\r\n\r\n'],
    ['a target that is none', 'OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'],
    ['no HTTP', 'hello\r\n\r\n'],
  ])('is told so in the envelope, with the headers of every answer: %s', async (_, request) => {
    const answer = await rawExchange(direct.zone.origin.url, request);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/x-request-id: \w{26}/i);
    expect(answer).toMatch(/x-residency-jurisdiction: eu/i);
    expect(answer).toContain('"code":"body_invalid"');
  });

  it('opens no tunnel', async () => {
    expect(await rawExchange(direct.zone.origin.url, 'CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n')).toContain(
      ' 400 ',
    );
  });

  it('never takes the place of the answer to a good call before it', async () => {
    fra().order({ gate: 'headers' });
    const headers = await directHeaders(direct, PATH);
    const lines = Object.entries({ ...headers, host: 'x', 'content-length': String(CHAT.length) });
    const good = `POST ${PATH} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${CHAT}`;
    const answer = rawExchange(direct.zone.origin.url, `${good}GARBAGE\r\n\r\n`);
    expect(await answer).not.toContain('not well-formed');
  });
});

describe('a stranger who asks again and again whether the origin is ready', () => {
  it('is answered from one look at the log', async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, () =>
        fetch(`${direct.zone.origin.url}/readyz`).then(({ status }) => status),
      ),
    );
    expect(new Set(answers)).toEqual(new Set([200]));
  });
});
