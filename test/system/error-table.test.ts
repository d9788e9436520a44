import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ERROR_CODES } from '../../shared/errors.ts';
import type { AuditRecord } from '../../shared/record.ts';
import { MODEL_ROUTES } from '../../shared/routes.ts';
import { type Answered, answerTo, chat, documentOf, presented } from '../support/calls.ts';
import { lines, rawExchange } from '../support/edge.ts';
import { ROWS_FROM_BODY, ROWS_FROM_HEADERS } from '../support/refusal-rows.ts';
import {
  CALLERS,
  type Caller,
  EU_LIMITS,
  type RefusalRow,
  type RefusalWorld,
  SECRET_WORDS,
  startRefusalWorld,
} from '../support/refusal-world.ts';
import { assertionOf } from '../support/worded-assertion.ts';

const ROWS = [...ROWS_FROM_HEADERS, ...ROWS_FROM_BODY];

/** Codes whose answers are not made by the gateway alone; they have tests of their own below. */
const PASSED_ON = ['upstream_rejected', 'upstream_interrupted'] as const;

/** `error.type` by status, where the code has none of its own. */
const TYPES: Readonly<Record<number, Readonly<Record<Caller['api'], string>>>> = {
  400: { openai: 'invalid_request_error', anthropic: 'invalid_request_error' },
  401: { openai: 'authentication_error', anthropic: 'authentication_error' },
  403: { openai: 'permission_error', anthropic: 'permission_error' },
  404: { openai: 'not_found_error', anthropic: 'not_found_error' },
  409: { openai: 'invalid_request_error', anthropic: 'invalid_request_error' },
  413: { openai: 'invalid_request_error', anthropic: 'request_too_large' },
  421: { openai: 'invalid_request_error', anthropic: 'invalid_request_error' },
  502: { openai: 'server_error', anthropic: 'api_error' },
  503: { openai: 'server_error', anthropic: 'api_error' },
};

let world: RefusalWorld;
let calls = 0;

/** Until a record that is written after the answer must be there. */
const WAIT = { timeout: 5_000 };

beforeAll(async () => {
  world = await startRefusalWorld();
});
afterAll(() => world.gateway.close());
beforeEach(() => world.reset());

const newId = (): string => `error-table.${++calls}`;

/** The records of a call, wherever they were kept, once the last of them has the kind given. */
async function recordsOf(requestId: string, last: AuditRecord['kind']): Promise<AuditRecord[]> {
  const { eu, us } = world.gateway;
  return await vi.waitFor(async () => {
    const records = [...(await eu.recordsOf(requestId)), ...(await us.recordsOf(requestId))];
    expect(records.at(-1)?.kind).toBe(last);
    return records;
  }, WAIT);
}

function expectEnvelope(answer: Answered, row: RefusalRow, caller: Caller, requestId: string): void {
  const type =
    row.code === 'no_compliant_endpoint' ? row.code : (TYPES[row.status]?.[caller.api] ?? 'not in the table');
  const candidates = expect.toSatisfy((list) => Array.isArray(list));
  const error = {
    message: expect.stringMatching(/^\S.{20,}[.]$/),
    type,
    code: row.code,
    request_id: requestId,
    ...((row.decided || row.code === 'region_violation') && { policy: 'eu-test@1.0.0' }),
    ...(row.decided && { candidates }),
  };
  expect(documentOf(answer)).toEqual(
    caller.api === 'openai'
      ? { error: { ...error, param: row.param ?? null } }
      : { type: 'error', error, request_id: requestId },
  );
}

function expectHeaders(answer: Answered, row: RefusalRow, requestId: string): void {
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-request-id': requestId,
    'x-residency-outcome': row.outcome ?? 'refused',
    'x-residency-decided-by': row.by,
  });
  const jurisdiction = row.jurisdiction === null ? undefined : (row.jurisdiction ?? 'eu');
  expect(answer.headers['x-residency-jurisdiction']).toBe(jurisdiction);
  expect(answer.headers['retry-after']).toBe(
    row.retryAfter === undefined ? undefined : String(row.retryAfter),
  );
  expect(answer.headers['x-residency-receipt']).toBeUndefined();
  if (row.decided) expect(answer.headers['x-residency-policy']).toBe('eu-test@1.0.0');
}

function expectRecords(records: readonly AuditRecord[], row: RefusalRow, caller: Caller): void {
  const kinds = row.kinds?.(caller) ?? ['refused'];
  expect(records.map(({ kind }) => kind)).toEqual(kinds);
  const told = records.at(-1);
  expect(told).toMatchObject({ code: row.code, status: row.status });
  expect([row.code, told?.tenant]).toEqual([row.code, row.tenant]);
  expect(told?.route).toBe(row.code === 'route_unknown' ? undefined : caller.path);
  expect(told?.actor).toBe(row.by === 'edge' ? 'edge' : undefined);
  if (row.code === 'workload_unknown' || row.by === 'edge') expect(told).not.toHaveProperty('workload');
}

describe.each(CALLERS)('a caller of the $api API is refused, and it is on record', (caller) => {
  const rows = ROWS.filter(({ only = caller.api }) => only === caller.api);
  it.each(rows)('$code: $why', async (row) => {
    const requestId = newId();
    const answer = await row.ask(world, caller, requestId);

    expect([row.code, answer.status]).toEqual([row.code, row.status]);
    expectEnvelope(answer, row, caller, requestId);
    expectHeaders(answer, row, requestId);
    expect(world.reached()).toEqual(row.reached?.(caller) ?? []);
    const records = await recordsOf(requestId, row.kinds?.(caller).at(-1) ?? 'refused');
    expectRecords(records, row, caller);
    expect(answer.text + JSON.stringify(records)).not.toMatch(/MARKER|rgk_[a-z]/);
  });

  it('upstream_rejected: the verdict of the endpoint is passed on as it came', async () => {
    const provider = world.gateway.eu.provider(caller.endpoint);
    provider.order({ status: 422, error: { message: 'MARKER-VERDICT' } });
    const requestId = newId();
    const answer = await world.ask(caller, requestId, { headers: world.acme() });

    expect(answer.status).toBe(422);
    expect(answer.text).toContain('MARKER-VERDICT');
    expect(answer.headers).toMatchObject({
      'x-request-id': requestId,
      'x-residency-outcome': 'failed',
      'x-residency-decided-by': 'origin',
      'x-residency-jurisdiction': 'eu',
      'x-residency-endpoint': caller.endpoint,
    });
    expect(world.reached()).toEqual([caller.endpoint]);
    const records = await recordsOf(requestId, 'failed');
    expect(records.map(({ kind }) => kind)).toEqual(['pending', 'failed']);
    expect(records.at(-1)).toMatchObject({ code: 'upstream_rejected', status: 422, upstream_status: 422 });
    expect(JSON.stringify(records)).not.toMatch(/MARKER|rgk_[a-z]/);
  });

  it('upstream_interrupted: a stream that breaks ends with the error event of its API, and not as if whole', async () => {
    const provider = world.gateway.eu.provider(caller.endpoint);
    provider.order({ text: 'one two three four', fault: { at: { contentFrames: 2 }, ending: 'cut' } });
    const requestId = newId();
    const body = chat('support-chat', SECRET_WORDS, { stream: true });
    const answer = await world.ask(caller, requestId, { headers: world.acme(), body });

    expect(answer.status).toBe(200);
    expect(answer.text).not.toMatch(/\[DONE\]|message_stop/);
    const last = answer.text.trimEnd().split('\n\n').at(-1) ?? '';
    expect(last.startsWith('event: error\n')).toBe(caller.api === 'anthropic');
    const event: unknown = JSON.parse(last.slice(last.indexOf('{')));
    const error = { code: 'upstream_interrupted', request_id: requestId };
    expect(event).toMatchObject(
      caller.api === 'openai' ? { error } : { type: 'error', error, request_id: requestId },
    );
    expect(world.reached()).toEqual([caller.endpoint]);
    const records = await recordsOf(requestId, 'interrupted');
    expect(records.map(({ kind }) => kind)).toEqual(['pending', 'served', 'interrupted']);
    expect(records.at(-1)).toMatchObject({ code: 'upstream_interrupted', streamed: true });
    expect(JSON.stringify(records)).not.toMatch(/MARKER|rgk_[a-z]/);
  });
});

describe('the table', () => {
  it('has a row for every code of the contract', () => {
    const covered = [...ROWS.map(({ code }) => code), ...PASSED_ON];
    expect([...new Set(covered)].sort()).toEqual([...ERROR_CODES].sort());
  });
});

describe("the record of the edge's own refusal", () => {
  const [caller] = CALLERS;
  if (caller === undefined) throw new Error('no caller');

  it("is kept by the origin of the tenant's zone, and by no other", async () => {
    const requestId = newId();
    const { eu, us } = world.gateway;
    const headers = presented('eu', us.key('globex'));
    expect((await world.ask(caller, requestId, { headers })).status).toBe(403);
    await recordsOf(requestId, 'refused');
    expect(await eu.recordsOf(requestId)).toEqual([]);
    expect(await us.recordsOf(requestId)).toMatchObject([
      { kind: 'refused', code: 'jurisdiction_mismatch', tenant: 'globex', jurisdiction: 'us', actor: 'edge' },
    ]);
  });

  it.each([
    ['names nobody', () => ({ 'x-jurisdiction': 'us', 'x-api-key': 'sk-other-vendor' }), undefined],
    ['names somebody unknown', () => world.stranger('nobody', 'us'), 'nobody'],
  ])('is kept by the home of the unattributed where the request %s', async (_, headers, tenant) => {
    const requestId = newId();
    await world.ask(caller, requestId, { headers: headers() });
    await recordsOf(requestId, 'refused');
    const [record, ...others] = await world.gateway.eu.recordsOf(requestId);
    expect([others, await world.gateway.us.recordsOf(requestId)]).toEqual([[], []]);
    expect(record).toMatchObject({ jurisdiction: 'eu', jurisdiction_claimed: 'us', actor: 'edge' });
    expect(record?.tenant).toBe(tenant);
  });
});

describe('the same refusal on every route', () => {
  const form = (model: string) => {
    const part = (name: string, value: string, more = '') =>
      `--b\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
    return `${part('model', model)}${part('file', SECRET_WORDS, '; filename="a.wav"')}--b--\r\n`;
  };

  it.each(MODEL_ROUTES)('$path', async ({ path, api, body }) => {
    const ask = (keyId: string, workload: string) =>
      answerTo(world.gateway.edge.url, path, {
        headers: {
          ...world.acme(keyId),
          'content-type': body === 'multipart' ? 'multipart/form-data; boundary=b' : 'application/json',
        },
        body:
          body === 'multipart' ? form(workload) : JSON.stringify({ model: workload, input: SECRET_WORDS }),
      });
    const denied = await ask('narrow', 'support-chat');
    const unknown = await ask('main', 'no-such-workload');
    expect([denied.status, unknown.status]).toEqual([403, 404]);
    const envelope = (code: string) =>
      api === 'anthropic' ? { type: 'error', error: { code } } : { error: { code, param: 'model' } };
    expect(documentOf(denied)).toMatchObject(envelope('model_not_allowed'));
    expect(documentOf(unknown)).toMatchObject(envelope('workload_unknown'));
    expect(world.reached()).toEqual([]);
  });
});

describe('a named limit', () => {
  const [openai, anthropic] = CALLERS;
  if (openai === undefined || anthropic === undefined) throw new Error('two callers are needed');
  const messageOf = (answer: Answered): string => JSON.stringify(documentOf(answer));

  /** A body sent in pieces, without its length. */
  async function* pieces(body: string) {
    for (let at = 0; at < body.length; at += 10_000) yield Buffer.from(body.slice(at, at + 10_000));
  }

  it.each(CALLERS)('body_bytes: the $api API takes a body that has exactly as many', async (caller) => {
    const body = chat('support-chat').padEnd(EU_LIMITS.body_bytes);
    expect((await world.ask(caller, newId(), { headers: world.acme(), body })).status).toBe(200);
    const sent = world.gateway.eu.provider(caller.endpoint).received[0]?.body;
    expect(sent?.toString()).toMatch(/^\{.*\} +$/);
  });

  it.each(CALLERS)(
    'body_bytes: $api refuses one more without a length too, and forwards no part',
    async (caller) => {
      const answers = [EU_LIMITS.body_bytes, EU_LIMITS.body_bytes + 1].map((bytes) => {
        const body = pieces(chat('support-chat').padEnd(bytes));
        return answerTo(world.gateway.edge.url, caller.path, {
          headers: { ...world.acme(), 'content-type': 'application/json' },
          body: Readable.from(body),
        });
      });
      const [fits, over] = await Promise.all(answers);
      expect([fits?.status, over?.status]).toEqual([200, 413]);
      if (over) expect(messageOf(over)).toContain('limit body_bytes of 100000 bytes');
      expect(world.gateway.eu.provider(caller.endpoint).receivedTotal).toBe(1);
    },
  );

  it('header_bytes counts the target of a request as well', async () => {
    const caller = { ...openai, path: `${openai.path}?q=${'q'.repeat(17_000)}` };
    const answer = await world.ask(caller, newId(), { headers: world.acme() });
    expect(answer.status).toBe(413);
    expect(messageOf(answer)).toContain('limit header_bytes of 16384 bytes');
  });

  it('concurrent_requests and buffered_body_bytes are named in what they refuse', async () => {
    for (const limit of ['concurrent_requests', 'buffered_body_bytes']) {
      const row = ROWS_FROM_BODY.find(({ code, why }) => code === 'gateway_busy' && why.includes(limit));
      const answer = await row?.ask(world, anthropic, newId());
      expect(answer && messageOf(answer)).toContain(`at its limit ${limit}`);
      world.reset();
    }
  });

  const us = (requestId: string, members: object) =>
    answerTo(world.gateway.edge.url, openai.path, {
      headers: { ...presented('us', world.gateway.us.key('globex')), 'x-request-id': requestId },
      body: chat('support-chat', SECRET_WORDS, members),
    });

  it.each([
    { limit: 'time_to_first_byte_ms', members: {}, order: { gate: 'headers' } as const },
    { limit: 'time_to_first_byte_ms', members: {}, order: { gate: 'first_token' } as const },
    { limit: 'time_to_first_token_ms', members: { stream: true }, order: { gate: 'headers' } as const },
    { limit: 'time_to_first_token_ms', members: { stream: true }, order: { gate: 'first_token' } as const },
  ])(
    '$limit: an endpoint that is silent at $order.gate is given up, by name',
    async ({ limit, members, order }) => {
      world.gateway.us.provider('iad').order(order);
      const requestId = newId();
      const answer = await us(requestId, members);
      expect(answer.status).toBe(503);
      expect(documentOf(answer)).toMatchObject({
        error: {
          code: 'no_compliant_endpoint',
          candidates: [{ endpoint: 'iad', rejected: expect.stringContaining(limit) }],
        },
      });
      expect((await recordsOf(requestId, 'failed')).map(({ kind }) => kind)).toEqual(['pending', 'failed']);
    },
  );

  it('stream_idle_ms: a stream that falls silent is ended as interrupted', async () => {
    world.gateway.us.provider('iad').order({ text: 'one two three', gate: 'frame' });
    const requestId = newId();
    const answer = await us(requestId, { stream: true });
    expect(answer.text).toContain('"code":"upstream_interrupted"');
    expect(answer.text).not.toContain('[DONE]');
    expect((await recordsOf(requestId, 'interrupted')).at(-1)).toMatchObject({
      code: 'upstream_interrupted',
    });
  });
});

describe('what is no request at all', () => {
  const at = () => Number(new URL(world.gateway.eu.origin.url).port);

  it.each([
    ['no HTTP', 'GARBAGE\r\n\r\n', '400', 'body_invalid'],
    ['headers without end', `GET / HTTP/1.1\r\nx: ${'y'.repeat(140_000)}\r\n`, '413', 'body_too_large'],
  ])('is answered by the origin in the envelope, with an id: %s', async (_, bytes, status, code) => {
    const answer = await rawExchange(world.gateway.eu.origin.url, bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/\r\nx-request-id: [0-9A-Z]{26}\r\n/);
    expect(answer).toContain('x-residency-outcome: refused');
    expect(answer).toContain(`"code":"${code}"`);
  });

  it('never ends up in the midst of an answer that has begun', async () => {
    const { eu, edgeKey } = world.gateway;
    eu.provider('fra').order({ text: 'one two three', gate: 'frame' });
    const target = '/v1/chat/completions';
    const assertion = await assertionOf(edgeKey.private, { zone: 'eu', tenant: 'acme', target });
    const body = chat('support-chat', SECRET_WORDS, { stream: true });
    const head = {
      ...world.acme(),
      'x-residency-assertion': assertion,
      'content-length': String(body.length),
    };
    const socket = connect({ host: '127.0.0.1', port: at() });
    let received = '';
    socket.on('data', (chunk) => {
      const begun = received.length > 0;
      received += chunk.toString('latin1');
      if (!begun) socket.write('GARBAGE\r\n\r\n');
    });
    socket.write(`POST ${target} HTTP/1.1\r\nhost: origin\r\n${lines(head)}\r\n${body}`);
    await once(socket, 'close');
    expect(received).toMatch(/^HTTP\/1\.1 200 /);
    expect(received).not.toContain('HTTP/1.1 400');
  });
});
