import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OrderInput } from '../../origin/dev/provider.ts';
import { answerTo, chat, documentOf, presented } from '../support/calls.ts';
import { resetZone, TWO_OF_EACH } from '../support/direct.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { anthropicClient, openaiClient } from '../support/sdk.ts';
import { endedRecords } from '../support/served.ts';

/** Time that a stream's first content may take, in ms; what waits longer is silent. */
const FIRST_TOKEN_MS = 400;

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({
    limits: { time_to_first_token_ms: FIRST_TOKEN_MS },
    eu: { endpoints: TWO_OF_EACH },
  });
});
afterAll(() => gateway.close());
beforeEach(() => resetZone(gateway.eu));

const APIS = [
  { path: '/v1/chat/completions', first: 'fra', second: 'dub' },
  { path: '/v1/responses', first: 'fra', second: 'dub' },
  { path: '/v1/messages', first: 'fra-messages', second: 'dub-messages' },
] as const;

/** A call of any of the three APIs: each takes what the others need beside its own. */
const body = (stream: boolean) => chat('support-chat', 'hello', { input: 'hello', stream });

const call = (path: string, stream = false) =>
  answerTo(gateway.edge.url, path, {
    headers: { ...presented('eu', gateway.eu.key('acme')), 'content-type': 'application/json' },
    body: body(stream),
  });

const arrivals = (...ids: string[]) => ids.map((id) => gateway.eu.provider(id).receivedTotal);
const kindsOf = async (requestId: unknown) =>
  (await endedRecords(gateway.eu, String(requestId))).map(({ kind, attempt }) => `${attempt} ${kind}`);

describe.each(APIS)('a call of $path', ({ path, first, second }) => {
  it.each<[string, OrderInput]>([
    ['answers 503', { status: 503 }],
    ['is overloaded (529)', { status: 529 }],
    ['is busy', { status: 429, headers: { 'retry-after': '7' } }],
    ['timed out itself', { status: 408 }],
    ['does not accept our credential (401)', { status: 401, echo: ['prompt'] }],
    ['does not accept our credential (403)', { status: 403, echo: ['prompt'] }],
    ['redirects elsewhere', { redirect: { location: 'http://127.0.0.1:9/v1' } }],
    ['resets the connection', { fault: { at: 'before_headers', ending: 'reset' } }],
    ['breaks off behind its headers', { fault: { at: 'before_body', ending: 'cut' } }],
    ['says what is not HTTP', { raw: { bytes: { text: 'SSH-2.0-OpenSSH_9.6\r\n' } } }],
    ['answers in an unknown encoding', { headers: { 'content-encoding': 'rot13' } }],
  ])('goes to the second endpoint when the first %s', async (_, order) => {
    gateway.eu.provider(first).order(order);
    const answer = await call(path);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(second);
    expect(answer.headers).toMatchObject({
      'x-residency-outcome': 'served',
      'x-residency-endpoint': second,
      'x-residency-attempts': '2',
    });
    expect(arrivals(first, second)).toEqual([1, 1]);
    expect(await kindsOf(answer.headers['x-request-id'])).toEqual([
      ...['1 pending', '1 failed', '2 pending', '2 served', '2 completed'],
    ]);
  });

  it.each<[string, OrderInput]>([
    ['an error event at once', { fault: { at: 'before_body', errorEvent: true, ending: 'end' } }],
    ['lifecycle events, then an error', { fault: { at: 'before_content', errorEvent: true, ending: 'end' } }],
    ['an error and then silence', { fault: { at: 'before_content', errorEvent: true, ending: 'silence' } }],
    ['lifecycle events, then a cut', { fault: { at: 'before_content', ending: 'cut' } }],
    ['lifecycle events, then a good end', { fault: { at: 'before_content', ending: 'end' } }],
    ['lifecycle events, then silence', { fault: { at: 'before_content', ending: 'silence' } }],
    ['nothing but headers', { fault: { at: 'before_body', ending: 'silence' } }],
    ['429 as JSON', { status: 429 }],
  ])('tells its caller nothing of a stream whose first endpoint sends %s', async (_, order) => {
    gateway.eu.provider(first).order(order);
    const answer = await call(path, true);
    expect(answer.headers['x-residency-endpoint']).toBe(second);
    expect(answer.text).toContain(second);
    expect(answer.text).not.toContain(`${first} in`);
    expect(answer.text).not.toContain('error":{');
    expect(arrivals(first, second)).toEqual([1, 1]);
  });

  it('gets a proper error, and no stream, when every endpoint begins with an error event', async () => {
    for (const id of [first, second]) {
      gateway.eu.provider(id).order({ fault: { at: 'before_content', errorEvent: true, ending: 'end' } });
    }
    const answer = await call(path, true);
    expect(answer.status).toBe(503);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers).toMatchObject({ 'x-residency-outcome': 'failed', 'x-residency-attempts': '2' });
    expect(answer.headers).not.toHaveProperty('x-residency-receipt');
    const others = TWO_OF_EACH.map(({ id }) => id).filter((id) => id !== first && id !== second);
    const candidates = TWO_OF_EACH.map(({ id }) => ({
      endpoint: id,
      rejected: expect.stringContaining(others.includes(id) ? 'API only' : 'began with an error event'),
    }));
    expect(documentOf(answer)).toMatchObject({
      error: { code: 'no_compliant_endpoint', policy: 'eu-test@1.0.0', candidates },
    });
    const records = await endedRecords(gateway.eu, String(answer.headers['x-request-id']));
    expect(records.map(({ kind }) => kind)).toEqual(['pending', 'failed', 'pending', 'failed']);
    expect(records[1]).not.toHaveProperty('code');
    expect(records[3]).toMatchObject({ code: 'no_compliant_endpoint', status: 503, candidates });
  });

  it.each([400, 404, 413, 415, 421, 422, 499])(
    'gets %i as the endpoint said it, without a second opinion',
    async (status) => {
      gateway.eu.provider(first).order({ status, error: { message: 'the verdict' } });
      const answer = await call(path);
      expect(answer.status).toBe(status);
      expect(answer.text).toContain('the verdict');
      expect(answer.headers).toMatchObject({
        'x-residency-outcome': 'failed',
        'x-residency-endpoint': first,
      });
      expect(arrivals(first, second)).toEqual([1, 0]);
      expect(await endedRecords(gateway.eu, String(answer.headers['x-request-id']))).toMatchObject([
        { kind: 'pending' },
        { kind: 'failed', code: 'upstream_rejected', status, upstream_status: status },
      ]);
    },
  );
});

describe('when all are busy', () => {
  it('says when the first of them may be tried again', async () => {
    gateway.eu.provider('fra').order({ status: 429, headers: { 'retry-after': '40' } });
    gateway.eu.provider('dub').order({ status: 503, headers: { 'retry-after-ms': '7100' } });
    const answer = await call('/v1/chat/completions');
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '8']);
  });

  it.each([429, 503])(
    'takes the longest wait where a %i names several, and asks the next endpoint',
    async (status) => {
      gateway.eu.provider('fra').order({ status, headers: { 'retry-after': ['1', '40', 'soon'] } });
      const answer = await call('/v1/chat/completions');
      expect([answer.status, answer.headers['x-residency-endpoint']]).toEqual([200, 'dub']);
      gateway.eu.provider('dub').order({ status, headers: { 'retry-after': ['50', '3'] } });
      const refused = await call('/v1/chat/completions');
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '40']);
    },
  );

  it('raises the error that an SDK knows', async () => {
    for (const { id } of TWO_OF_EACH) gateway.eu.provider(id).order({ status: 503 });
    const messages = [{ role: 'user' as const, content: 'hello' }];
    const chatCall = openaiClient(gateway).chat.completions.create({
      model: 'support-chat',
      messages,
      stream: true,
    });
    await expect(chatCall).rejects.toMatchObject({ status: 503, code: 'no_compliant_endpoint' });
    const call = anthropicClient(gateway).messages.create({
      model: 'support-chat',
      max_tokens: 9,
      messages,
      stream: true,
    });
    await expect(call).rejects.toMatchObject({ status: 503 });
  });
});

describe('a kept-alive connection', () => {
  it('is used again, and a new one taken in silence where the endpoint closed it while idle', async () => {
    await call('/v1/chat/completions');
    await call('/v1/chat/completions');
    expect(gateway.eu.provider('fra').openConnections).toBe(1);
    gateway.eu.provider('fra').closeIdleConnections();
    const answer = await call('/v1/chat/completions');
    expect(answer.headers['x-residency-attempts']).toBe('1');
    expect(arrivals('fra', 'dub')).toEqual([3, 0]);
  });

  it('is used again behind a stream and behind a refusal', async () => {
    await call('/v1/chat/completions', true);
    gateway.eu.provider('fra').order({ status: 503 }, { times: 1 });
    await call('/v1/chat/completions', true);
    await call('/v1/chat/completions', true);
    expect(gateway.eu.provider('fra').openConnections).toBe(1);
  });

  it('fails the attempt where it dies under a request: nothing is sent twice to one endpoint', async () => {
    gateway.eu.provider('fra').order({ connection: 'reset_on_next' }, { times: 1 });
    await call('/v1/chat/completions');
    const answer = await call('/v1/chat/completions');
    expect(answer.headers).toMatchObject({ 'x-residency-endpoint': 'dub', 'x-residency-attempts': '2' });
    expect(arrivals('fra', 'dub')).toEqual([2, 1]);
  });
});

describe('an endpoint that cannot be reached', () => {
  it('is named with its reason, and never with its address', async () => {
    await gateway.us.provider('iad').close();
    const answer = await answerTo(gateway.edge.url, '/v1/chat/completions', {
      headers: presented('us', gateway.us.key('globex')),
      body: body(false),
    });
    expect(answer.status).toBe(503);
    expect(answer.text).toContain('connection refused');
    expect(answer.text).not.toContain('127.0.0.1');
    expect(gateway.us.logLines.join('')).not.toContain(`127.0.0.1:${gateway.us.provider('iad').port}`);
  });
});
