import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { newGatewayKey } from '../../origin/keys/gateway-key.ts';
import type { AuditRecord } from '../../shared/record.ts';
import { type Answered, answerTo, chat, documentOf, presented } from '../support/calls.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const CHAT = '/v1/chat/completions';

let gateway: TestGateway;
let calls = 0;

/** Until a record that is written after the answer must be there. */
const WAIT = { timeout: 5_000 };

beforeAll(async () => {
  gateway = await startGateway({
    eu: {
      endpoints: [{ id: 'fra', region: 'eu-central-1' }],
      tenants: [
        {
          id: 'acme',
          teams: { red: {} },
          keys: [
            { id: 'team', team: 'red' },
            { id: 'old', revoked: true },
          ],
        },
        { id: 'beta' },
      ],
    },
  });
  await gateway.edge.putTenant('beta', { jurisdiction: 'eu', state: 'active', version: 1 });
});
afterAll(() => gateway.close());
beforeEach(() => gateway.eu.provider('fra').reset());

const newId = (): string => `admission.${++calls}`;

const ask = (
  headers: Record<string, string>,
  members: object = {},
  signal?: AbortSignal,
): Promise<Answered> =>
  answerTo(gateway.edge.url, CHAT, {
    headers: { 'x-jurisdiction': 'eu', 'content-type': 'application/json', ...headers },
    body: chat('support-chat', 'hello', members),
    ...(signal && { signal }),
  });

const codeOf = (answer: Answered): unknown => {
  const document = documentOf(answer);
  const error =
    typeof document === 'object' && document !== null && 'error' in document ? document.error : {};
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
};

async function recordsOf(requestId: string, last: AuditRecord['kind']): Promise<AuditRecord[]> {
  return await vi.waitFor(async () => {
    const records = await gateway.eu.recordsOf(requestId);
    expect(records.at(-1)?.kind).toBe(last);
    return records;
  }, WAIT);
}

describe('a gateway key', () => {
  const key = (tenant = 'acme', id?: string) => gateway.eu.key(tenant, id);

  const good: readonly (readonly [string, () => Record<string, string>])[] = [
    ['as a bearer token', () => ({ authorization: `Bearer ${key()}` })],
    ['as a bearer token in lower case', () => ({ authorization: `bearer ${key()}` })],
    ['as a bearer token in capitals', () => ({ authorization: `BEARER ${key()}` })],
    ['as a bearer token after several spaces', () => ({ authorization: `Bearer   ${key()}` })],
    ['in x-api-key', () => ({ 'x-api-key': key() })],
    ['in both headers alike', () => ({ authorization: `Bearer ${key()}`, 'x-api-key': key() })],
    ['beside the tenant that it names', () => ({ authorization: `Bearer ${key()}`, 'x-tenant-id': 'acme' })],
  ];
  it.each(good)('is taken %s', async (_, headers) => {
    expect((await ask(headers())).status).toBe(200);
  });

  it('is on record by its id and team, and by nothing of itself', async () => {
    const requestId = newId();
    const team = key('acme', 'team');
    expect((await ask({ 'x-api-key': team, 'x-request-id': requestId })).status).toBe(200);
    const records = await recordsOf(requestId, 'completed');
    for (const record of records)
      expect(record).toMatchObject({ tenant: 'acme', key_id: 'team', team: 'red' });
    const secret = team.slice('rgk_acme_'.length);
    expect(JSON.stringify(records)).not.toContain(secret.slice(0, 12));
    expect(JSON.stringify(records)).not.toContain(createHash('sha256').update(team).digest('hex'));
  });

  const bad: readonly (readonly [why: string, code: string, headers: () => Record<string, string>])[] = [
    ['revoked', 'key_revoked', () => ({ 'x-api-key': key('acme', 'old') })],
    ['of the right form, but never made', 'key_invalid', () => ({ 'x-api-key': newGatewayKey('acme') })],
    ['cut by a character', 'key_invalid', () => ({ 'x-api-key': key().slice(0, -1), 'x-tenant-id': 'acme' })],
    ['with a character more', 'key_invalid', () => ({ 'x-api-key': `${key()}A` })],
    ['in other letter case', 'key_invalid', () => ({ 'x-api-key': swapCase(key()), 'x-tenant-id': 'acme' })],
    ["of another vendor's form", 'key_invalid', () => ({ 'x-api-key': 'sk-MARKER', 'x-tenant-id': 'acme' })],
    ['of another scheme', 'key_invalid', () => ({ authorization: 'Basic TUFSS0VS', 'x-tenant-id': 'acme' })],
    [
      'very long',
      'key_invalid',
      () => ({ 'x-api-key': `${key()}${'M'.repeat(8_000)}`, 'x-tenant-id': 'acme' }),
    ],
    [
      'one of two that differ',
      'key_invalid',
      () => ({ authorization: `Bearer ${key()}`, 'x-api-key': key('acme', 'team') }),
    ],
    [
      'beside a credential of another vendor',
      'key_invalid',
      () => ({ authorization: `Bearer ${key()}`, 'x-api-key': 'sk-MARKER' }),
    ],
    ['of another tenant', 'tenant_mismatch', () => ({ 'x-api-key': key('beta'), 'x-tenant-id': 'acme' })],
    [
      'of one tenant beside one of another',
      'tenant_mismatch',
      () => ({ authorization: `Bearer ${key()}`, 'x-api-key': key('beta') }),
    ],
    ['an empty bearer token', 'key_missing', () => ({ authorization: 'Bearer ', 'x-tenant-id': 'acme' })],
  ];
  it.each(bad)('is refused, unrepeated, where it is %s', async (_, code, headers) => {
    const requestId = newId();
    const answer = await ask({ 'x-request-id': requestId, ...headers() });
    expect(codeOf(answer)).toBe(code);
    const records = [...(await recordsOf(requestId, 'refused')), ...(await gateway.us.recordsOf(requestId))];
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ code });
    expect(records[0]).not.toHaveProperty('key_id');
    expect(answer.text + JSON.stringify(records)).not.toMatch(/MARKER|MMM|rgk_[a-z]|sk-/);
    expect(gateway.eu.provider('fra').receivedTotal).toBe(0);
  });
});

const swapCase = (key: string): string =>
  key.replace(/(?<=^rgk_acme_).*$/, (end) =>
    [...end].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join(''),
  );

describe('an idempotency key', () => {
  const acme = () => presented('eu', gateway.eu.key('acme'));
  const beta = () => presented('eu', gateway.eu.key('beta'));

  it('that twenty calls carry at once lets one of them through; the others may try again', async () => {
    const provider = gateway.eu.provider('fra');
    provider.order({ gate: 'headers' });
    const waiting = new Set<Promise<Answered>>();
    const all = Array.from({ length: 20 }, () => ask({ ...acme(), 'idempotency-key': 'MARKER-twenty' }));
    for (const call of all) waiting.add(call);
    const refused: Answered[] = [];
    while (refused.length < 19) {
      const first = await Promise.race([...waiting].map((call) => call.then((answer) => ({ call, answer }))));
      waiting.delete(first.call);
      refused.push(first.answer);
    }
    expect(refused.map(codeOf)).toEqual(Array.from({ length: 19 }, () => 'idempotency_in_flight'));
    for (const { status, headers } of refused) expect([status, headers['retry-after']]).toEqual([409, '1']);
    provider.release('headers');
    const [served] = await Promise.all(waiting);
    expect(served?.status).toBe(200);
    expect(provider.receivedTotal).toBe(1);
  });

  it('goes up to the endpoint as it was sent, and onto the record as a hash alone', async () => {
    const requestId = newId();
    await ask({ ...acme(), 'idempotency-key': 'MARKER-hash', 'x-request-id': requestId });
    expect(gateway.eu.provider('fra').received[0]?.header('idempotency-key')).toBe('MARKER-hash');
    const hash = createHash('sha256').update('MARKER-hash').digest('hex');
    const records = await recordsOf(requestId, 'completed');
    for (const record of records) expect(record.idempotency_key_sha256).toBe(hash);
    expect(JSON.stringify(await gateway.eu.records())).not.toContain('MARKER');
  });

  it('of one tenant is no hindrance to another', async () => {
    const provider = gateway.eu.provider('fra');
    provider.order({ gate: 'headers' });
    const held = ask({ ...acme(), 'idempotency-key': 'shared' });
    await provider.waitFor(({ heldAt }) => heldAt === 'headers');
    const other = ask({ ...beta(), 'idempotency-key': 'shared' });
    await provider.waitFor(({ index, heldAt }) => index === 1 && heldAt === 'headers');
    provider.release('headers');
    expect((await Promise.all([held, other])).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('holds across routes and bodies while the call runs, since it names one call', async () => {
    const provider = gateway.eu.provider('fra');
    provider.order({ gate: 'headers' });
    const held = ask({ ...acme(), 'idempotency-key': 'one' });
    await provider.waitFor(({ heldAt }) => heldAt === 'headers');
    const other = await answerTo(gateway.edge.url, '/v1/embeddings', {
      headers: { ...acme(), 'idempotency-key': 'one' },
      body: '{"model":"embed","input":"other"}',
    });
    expect(codeOf(other)).toBe('idempotency_in_flight');
    provider.release('headers');
    await held;
  });

  it('is refused where it is longer than the APIs allow', async () => {
    const answer = await ask({ ...acme(), 'idempotency-key': 'k'.repeat(256) });
    expect([answer.status, codeOf(answer)]).toEqual([400, 'body_invalid']);
    expect(documentOf(answer)).toMatchObject({ error: { param: 'idempotency-key' } });
  });

  /** Ends one call with the key given, in the way that the test is about. */
  const endings: Readonly<Record<string, (key: string) => Promise<void>>> = {
    'with an answer': async (key) => {
      await ask({ ...acme(), 'idempotency-key': key });
    },
    'with a refusal': async (key) => {
      const body = '{"model":"no-such"}';
      await answerTo(gateway.edge.url, CHAT, { headers: { ...acme(), 'idempotency-key': key }, body });
    },
    'with a failure of every endpoint': async (key) => {
      gateway.eu.provider('fra').order({ status: 500 }, { times: 1 });
      await ask({ ...acme(), 'idempotency-key': key });
    },
    'with a broken stream': async (key) => {
      gateway.eu.provider('fra').order({ fault: { at: { contentFrames: 1 }, ending: 'cut' } }, { times: 1 });
      await ask({ ...acme(), 'idempotency-key': key }, { stream: true });
    },
    'by the caller hanging up': async (key) => {
      const provider = gateway.eu.provider('fra');
      provider.order({ gate: 'headers' }, { times: 1 });
      const hangUp = new AbortController();
      const call = ask({ ...acme(), 'idempotency-key': key }, {}, hangUp.signal).catch(() => undefined);
      const received = await provider.waitFor(({ heldAt }) => heldAt === 'headers');
      hangUp.abort();
      await call;
      expect(await received.closed).toBe('aborted');
    },
  };
  it.each(Object.keys(endings))('is free again once its call has ended %s', async (how) => {
    const key = `freed ${how}`;
    await endings[how]?.(key);
    const again = await vi.waitFor(async () => {
      const answer = await ask({ ...acme(), 'idempotency-key': key });
      expect(codeOf(answer)).not.toBe('idempotency_in_flight');
      return answer;
    }, WAIT);
    expect(again.status).toBe(200);
  });
});
