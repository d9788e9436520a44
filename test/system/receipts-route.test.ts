import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { importJWK, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { publicHalf } from '../../origin/keys/signing-key.ts';
import { type SequencedRow, StoreError } from '../../origin/store/store.ts';
import { canonicalJson } from '../../shared/canonical.ts';
import { leafHash } from '../../shared/merkle/hash.ts';
import { RECEIPT_TYPE, type ReceiptClaims, receiptSchema } from '../../shared/receipt.ts';
import { recordSchema } from '../../shared/record.ts';
import { type Answered, answerTo, chat, documentOf, presented } from '../support/calls.ts';
import { FaultyStore } from '../support/faulty-store.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ADMIN_TOKEN } from '../support/zone.ts';

/** A store whose reads of records fail while a test says so. */
class UnreadableStore extends FaultyStore {
  unreadable = false;

  override async ofRequest(
    requestId: string,
    tenant: string,
    limit: number,
  ): Promise<readonly SequencedRow[]> {
    this.#read();
    return super.ofRequest(requestId, tenant, limit);
  }

  override async latest(limit: number): Promise<readonly SequencedRow[]> {
    this.#read();
    return super.latest(limit);
  }

  #read(): void {
    if (this.unreadable) throw new StoreError('busy', 'ordered by the test');
  }
}

const shownSchema = z.strictObject({
  request_id: z.string(),
  log: z.literal('residency.test/eu'),
  checkpoint: z.string().nullable(),
  records: z.array(
    z.strictObject({
      seq: z.int(),
      state: z.enum(['sequenced', 'published']),
      leaf: z.string(),
      record: recordSchema,
      proof: z.object({ tree_size: z.int(), index: z.int(), hashes: z.array(z.string()) }).nullable(),
      tlog_proof: z.string().nullable(),
    }),
  ),
  has_more: z.boolean(),
});

let gateway: TestGateway;
const stores: UnreadableStore[] = [];

beforeAll(async () => {
  gateway = await startGateway({
    eu: {
      endpoints: [
        { id: 'fra', region: 'eu-central-1' },
        { id: 'fra-messages', region: 'eu-central-1', provider: 'anthropic' },
      ],
      tenants: [{ id: 'acme' }, { id: 'beta' }],
      wrapStore: (inner) => {
        const store = new UnreadableStore(inner);
        stores.push(store);
        return store;
      },
    },
  });
  await gateway.edge.putTenant('beta', { jurisdiction: 'eu', state: 'active', version: 1 });
});
afterAll(() => gateway.close());

const headersOf = (tenant: string) => presented('eu', gateway.eu.key(tenant));

const call = (tenant: string, requestId: string, members: object = {}, path = '/v1/chat/completions') =>
  answerTo(gateway.edge.url, path, {
    headers: { ...headersOf(tenant), 'x-request-id': requestId },
    body: chat('support-chat', 'hello', members),
  });

const ask = (tenant: string, id: string, headers: Record<string, string> = {}): Promise<Answered> =>
  answerTo(gateway.edge.url, `/v1/receipts/${id}`, {
    method: 'GET',
    headers: { ...headersOf(tenant), ...headers },
  });

async function shown(tenant: string, id: string) {
  const answer = await ask(tenant, id);
  expect(answer.status).toBe(200);
  return shownSchema.parse(documentOf(answer));
}

/** The receipt of an answer, verified with the public half of the origin's key and nothing else. */
async function receiptOf(answer: Answered): Promise<ReceiptClaims> {
  const file = await readFile(join(gateway.eu.folder, 'origin.jwk.json'), 'utf8');
  const jwk = z.looseObject({ kty: z.literal('OKP'), kid: z.string() }).parse(JSON.parse(file));
  const key = await importJWK(publicHalf(jwk), 'EdDSA');
  const { payload, protectedHeader } = await jwtVerify(String(answer.headers['x-residency-receipt']), key, {
    algorithms: ['EdDSA'],
    typ: RECEIPT_TYPE,
    issuer: 'residency.test/eu',
  });
  expect(protectedHeader.kid).toBe(jwk.kid);
  return receiptSchema.parse(payload);
}

describe('the receipt of an answer', () => {
  it.each([
    { api: 'OpenAI', form: 'plain', path: '/v1/chat/completions', endpoint: 'fra', stream: false },
    { api: 'OpenAI', form: 'streamed', path: '/v1/chat/completions', endpoint: 'fra', stream: true },
    { api: 'Anthropic', form: 'plain', path: '/v1/messages', endpoint: 'fra-messages', stream: false },
    { api: 'Anthropic', form: 'streamed', path: '/v1/messages', endpoint: 'fra-messages', stream: true },
  ])("verifies with the origin's public key and commits to the served record: $api, $form", async (row) => {
    const requestId = `receipt.${row.endpoint}.${row.form}`;
    const answer = await call('acme', requestId, { stream: row.stream }, row.path);
    const receipt = await receiptOf(answer);
    expect(receipt).toMatchObject({
      rid: requestId,
      sub: 'acme',
      jur: 'eu',
      endpoint: row.endpoint,
      provider_region: 'eu-central-1',
      serving_region: 'eu-central-1',
      region_source: 'declared',
      policy: 'eu-test@1.0.0',
      attempt: 1,
    });
    const { records } = await shown('acme', requestId);
    const committed = records.find(({ record }) => record.id === receipt.rec);
    expect(committed?.record.kind).toBe('served');
    // RFC 6962 section 2.1 over RFC 8785, computed here from the record as it is shown.
    const leaf = leafHash(canonicalJson(committed?.record ?? {})).toString('base64url');
    expect([receipt.leaf, committed?.leaf]).toEqual([leaf, leaf]);
  });

  it('cannot be made with any other key', async () => {
    const answer = await call('acme', 'receipt.foreign');
    const other = await importJWK(gateway.edgeKey.public, 'EdDSA');
    await expect(jwtVerify(String(answer.headers['x-residency-receipt']), other)).rejects.toThrow(
      'signature',
    );
  });

  it('is not given where nothing was served', async () => {
    const answer = await answerTo(gateway.edge.url, '/v1/chat/completions', {
      headers: headersOf('acme'),
      body: '{"model":"no-such-workload"}',
    });
    expect(answer.status).toBe(404);
    expect(answer.headers).not.toHaveProperty('x-residency-receipt');
  });
});

describe('GET /v1/receipts/<request-id>', () => {
  it('shows every record of a call to its own tenant, in the order of the log, each with its leaf hash', async () => {
    await call('acme', 'whole');
    const { request_id, records, has_more } = await shown('acme', 'whole');
    expect([request_id, has_more]).toEqual(['whole', false]);
    expect(records.map(({ record }) => record.kind).slice(0, 2)).toEqual(['pending', 'served']);
    expect(records.map(({ seq }) => seq)).toEqual([...records.map(({ seq }) => seq)].sort((a, b) => a - b));
    for (const { record, leaf } of records) {
      expect(leaf).toBe(leafHash(canonicalJson(record)).toString('base64url'));
    }
  });

  it('shows nothing of another tenant, not even that there is something', async () => {
    await call('acme', 'private');
    expect((await shown('beta', 'private')).records).toEqual([]);
    expect((await ask('beta', 'private')).text.replaceAll('private', 'x')).toBe(
      (await ask('beta', 'unknown')).text.replaceAll('unknown', 'x'),
    );
  });

  it('shows each tenant its own where two tenants used one request id', async () => {
    await Promise.all([call('acme', 'shared'), call('beta', 'shared')]);
    for (const tenant of ['acme', 'beta']) {
      const { records } = await shown(tenant, 'shared');
      expect(new Set(records.map(({ record }) => record.tenant))).toEqual(new Set([tenant]));
    }
  });

  it('shows all calls of a request id that was used again, each record under its own id', async () => {
    await call('acme', 'again');
    await call('acme', 'again');
    const { records } = await shown('acme', 'again');
    const served = records.filter(({ record }) => record.kind === 'served');
    expect(served).toHaveLength(2);
    expect(new Set(records.map(({ record }) => record.id)).size).toBe(records.length);
    expect(new Set(served.map(({ record }) => record.pending_id)).size).toBe(2);
  });

  it('shows the newest hundred records, and that there are more', async () => {
    const refusals = Array.from({ length: 101 }, () =>
      answerTo(gateway.edge.url, '/v1/no-such-route', {
        headers: { ...headersOf('beta'), 'x-request-id': 'often' },
        body: '{}',
      }),
    );
    await Promise.all(refusals);
    const { records, has_more } = await shown('beta', 'often');
    expect([records.length, has_more]).toEqual([100, true]);
  });

  it('shows a refusal too, by the edge as by the origin', async () => {
    await call('acme', 'refused.origin', { model: 'no-such-workload' });
    await answerTo(gateway.edge.url, '/v1/chat/completions', {
      headers: { ...headersOf('acme'), 'x-jurisdiction': 'us', 'x-request-id': 'refused.edge' },
      body: '{}',
    });
    for (const [id, code] of [
      ['refused.origin', 'workload_unknown'],
      ['refused.edge', 'jurisdiction_mismatch'],
    ] as const) {
      const { records } = await shown('acme', id);
      expect(records.map(({ record }) => [record.kind, record.code])).toEqual([['refused', code]]);
    }
  });

  it('is refused without a valid key, like any call', async () => {
    const answer = await ask('acme', 'whole', { authorization: `Bearer rgk_acme_${'A'.repeat(43)}` });
    expect([answer.status, answer.headers['x-residency-outcome']]).toEqual([401, 'refused']);
  });

  it.each([
    ['an encoded slash', 'a%2Fb'],
    ['a way up', '..%2f..%2fadmin%2frecords'],
    ['a second part', 'whole/records'],
    ['a broken escape', '%ZZ'],
    ['a zero byte', 'whole%00'],
    ['a quote', "whole'%20or%20'1'='1"],
    ['a space', 'whole%20'],
    ['letters of another script', '%C3%A9'],
    ['more characters than an id may have', 'i'.repeat(129)],
    ['nothing', ''],
  ])('has no such route for %s', async (_, id) => {
    const answer = await ask('acme', id);
    expect(answer.status).toBe(404);
    expect(documentOf(answer)).toMatchObject({ error: { code: 'route_unknown' } });
  });

  it('refuses twenty kilobytes of id by the limit that they exceed', async () => {
    const answer = await ask('acme', 'i'.repeat(20_000));
    expect(answer.status).toBe(413);
    expect(answer.text).toContain('header_bytes');
    expect(answer.text).not.toContain('iiii');
  });

  it.each([
    ['OpenAI', {}, { error: { code: 'ledger_unavailable' } }],
    [
      'Anthropic',
      { 'anthropic-version': '2023-06-01' },
      { type: 'error', error: { code: 'ledger_unavailable' } },
    ],
  ])(
    'answers 503 in the %s envelope while the log cannot be read, and works again by itself',
    async (_, headers, body) => {
      await call('acme', 'patient');
      for (const store of stores) store.unreadable = true;
      const answer = await ask('acme', 'patient', headers);
      for (const store of stores) store.unreadable = false;
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, '2']);
      expect(documentOf(answer)).toMatchObject(body);
      expect((await shown('acme', 'patient')).records.length).toBeGreaterThan(0);
    },
  );
});

describe("the operators' list of records", () => {
  const list = (token: string, path = '/admin/records') =>
    answerTo(gateway.eu.origin.admin, path, { method: 'GET', headers: { authorization: `Bearer ${token}` } });

  it.each(['', 'wrong', `${ADMIN_TOKEN}x`])('is for nobody with the token "%s"', async (token) => {
    const answers = await Promise.all([list(token), list(token, '/admin/no-such-route')]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401]);
  });

  it('is not served on the public address', async () => {
    const { url } = gateway.eu.origin;
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    expect((await answerTo(url, '/admin/records', { method: 'GET', headers })).status).toBe(401);
  });

  it('answers 503 in JSON while the log cannot be read, without a word of why, and works again', async () => {
    for (const store of stores) store.unreadable = true;
    const answer = await list(ADMIN_TOKEN);
    for (const store of stores) store.unreadable = false;
    expect([answer.status, answer.text.includes('ordered by the test')]).toEqual([503, false]);
    expect(documentOf(answer)).toMatchObject({ error: { message: expect.any(String) } });
    expect((await list(ADMIN_TOKEN)).status).toBe(200);
  });
});
