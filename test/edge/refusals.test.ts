import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../shared/errors.ts';
import { ERRORS } from '../../shared/errors.ts';
import type { Zone } from '../../shared/zones.ts';
import { ACME, type EdgeWorld, keyOf, lines, rawExchange, startEdgeWorld } from '../support/edge.ts';

interface Row {
  readonly code: ErrorCode;
  readonly why: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Zone that the answer and the report may repeat. */
  readonly claimed?: Zone;
  /** The origin that has to keep the record, and the tenant it is told. */
  readonly keeper: 'eu' | 'us';
  readonly tenant?: string;
}

const bearer = (tenant: string) => ({ authorization: `Bearer ${keyOf(tenant)}` });
const eu = { 'x-jurisdiction': 'eu' };

const ROWS: readonly Row[] = [
  { code: 'jurisdiction_missing', why: 'no tag', headers: bearer('acme'), keeper: 'eu', tenant: 'acme' },
  {
    code: 'jurisdiction_missing',
    why: 'an empty tag',
    headers: { 'x-jurisdiction': '', ...bearer('acme') },
    keeper: 'eu',
    tenant: 'acme',
  },
  {
    code: 'jurisdiction_unknown',
    why: 'a country instead of a zone',
    headers: { 'x-jurisdiction': 'de', ...bearer('acme') },
    keeper: 'eu',
    tenant: 'acme',
  },
  {
    code: 'jurisdiction_ambiguous',
    why: 'two tags',
    headers: { 'x-jurisdiction': 'eu, us', ...bearer('acme') },
    keeper: 'eu',
    tenant: 'acme',
  },
  { code: 'key_missing', why: 'no credential and no tenant', headers: eu, claimed: 'eu', keeper: 'us' },
  {
    code: 'key_missing',
    why: 'a tenant without a credential',
    headers: { ...eu, 'x-tenant-id': 'acme' },
    claimed: 'eu',
    keeper: 'eu',
    tenant: 'acme',
  },
  {
    code: 'tenant_missing',
    why: 'only a key of another vendor',
    headers: { ...eu, authorization: 'Bearer sk-proj-abc' },
    claimed: 'eu',
    keeper: 'us',
  },
  {
    code: 'tenant_invalid',
    why: 'an upper-case tenant',
    headers: { ...eu, ...bearer('acme'), 'x-tenant-id': 'ACME' },
    claimed: 'eu',
    keeper: 'us',
  },
  {
    code: 'tenant_mismatch',
    why: 'a header against the key',
    headers: { ...eu, ...bearer('usco'), 'x-tenant-id': 'acme' },
    claimed: 'eu',
    keeper: 'eu',
    tenant: 'acme',
  },
  {
    code: 'tenant_mismatch',
    why: 'two keys of two tenants',
    headers: { ...eu, ...bearer('usco'), 'x-api-key': keyOf('acme') },
    claimed: 'eu',
    keeper: 'us',
  },
  {
    code: 'tenant_unknown',
    why: 'a tenant without an entry',
    headers: { ...eu, ...bearer('nobody') },
    claimed: 'eu',
    keeper: 'us',
    tenant: 'nobody',
  },
  {
    code: 'jurisdiction_mismatch',
    why: "another zone than the tenant's",
    headers: { 'x-jurisdiction': 'us', ...bearer('acme') },
    claimed: 'us',
    keeper: 'eu',
    tenant: 'acme',
  },
  {
    code: 'tenant_suspended',
    why: 'a suspended tenant',
    headers: { ...eu, ...bearer('banned') },
    claimed: 'eu',
    keeper: 'eu',
    tenant: 'banned',
  },
  {
    code: 'tenant_moving',
    why: 'a tenant on the move',
    headers: { ...eu, ...bearer('mover') },
    claimed: 'eu',
    keeper: 'eu',
    tenant: 'mover',
  },
  {
    code: 'lookup_unavailable',
    why: 'an entry that does not parse',
    headers: { ...eu, ...bearer('broken') },
    claimed: 'eu',
    keeper: 'us',
    tenant: 'broken',
  },
  {
    code: 'origin_unavailable',
    why: 'a zone without an origin',
    headers: { 'x-jurisdiction': 'jp', ...bearer('jpco') },
    claimed: 'jp',
    keeper: 'us',
    tenant: 'jpco',
  },
  {
    code: 'wrong_host',
    why: 'a host outside the zone',
    headers: { 'x-jurisdiction': 'ch', ...bearer('chco') },
    claimed: 'ch',
    keeper: 'us',
    tenant: 'chco',
  },
];

const APIS = [
  { api: 'OpenAI', path: '/v1/chat/completions' },
  { api: 'Anthropic', path: '/v1/messages' },
];

const MIB = 1024 * 1024;

let world: EdgeWorld;

beforeAll(async () => {
  world = await startEdgeWorld({ zoneHosts: { ch: 'ch.ai.example' } });
  const { edge } = world;
  await edge.putTenant('banned', { jurisdiction: 'eu', state: 'suspended', version: 2 });
  await edge.putTenant('mover', { jurisdiction: 'eu', state: 'moving', version: 2 });
  await edge.putTenant('jpco', { jurisdiction: 'jp', state: 'active', version: 1 });
  await edge.putTenant('chco', { jurisdiction: 'ch', state: 'active', version: 1 });
  await (await edge.entries()).put('tenant:broken', '{"jurisdiction":"eu","state":"act');
});
afterAll(() => world.close());

describe.each(APIS)(
  'a caller of the $api API is refused, nothing is forwarded, and it is on record',
  (caller) => {
    it.each(ROWS)('$code: $why', async (row) => {
      const keeper = row.keeper === 'eu' ? world.eu : world.us;
      const answer = await world.call(caller.path, {
        method: 'POST',
        headers: { ...row.headers, 'x-request-id': `req.${row.code}:1` },
        body: '{"model":"m","prompt":"MARKER-PROMPT"}',
      });

      expect(answer.statusCode).toBe(ERRORS[row.code].status);
      const body: unknown = await answer.body.json();
      const error = { code: row.code, request_id: `req.${row.code}:1` };
      expect(body).toMatchObject(
        caller.api === 'OpenAI'
          ? { error: { ...error, param: expect.toSatisfy((p) => p === null || typeof p === 'string') } }
          : { type: 'error', error, request_id: `req.${row.code}:1` },
      );
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'x-request-id': `req.${row.code}:1`,
        'x-residency-outcome': 'refused',
        'x-residency-decided-by': 'edge',
      });
      expect(answer.headers['x-residency-jurisdiction']).toBe(row.claimed);
      expect('retry-after' in answer.headers).toBe('retryAfter' in ERRORS[row.code]);
      expect(world.eu.calls.all).toEqual([]);
      expect(world.us.calls.all).toEqual([]);

      const claims = await world.verifyReport(await keeper.reports.next(), row.keeper);
      expect(claims).toMatchObject({
        rid: `req.${row.code}:1`,
        jur: row.keeper,
        htm: 'POST',
        htu: '/internal/refusals',
        refusal: { code: row.code, status: ERRORS[row.code].status, route: caller.path },
      });
      expect(claims.sub).toBe(row.tenant);
      expect(claims.refusal.jurisdiction_claimed).toBe(row.claimed);
      expect(claims.exp - claims.iat).toBeCloseTo(60, 3);
    });
  },
);

describe('a refusal', () => {
  it('has a body for GET and none for HEAD', async () => {
    const get = await world.call('/v1/models');
    const head = await world.call('/v1/models', { method: 'HEAD' });
    expect(await get.body.text()).not.toBe('');
    expect([head.statusCode, await head.body.text()]).toEqual([400, '']);
    expect(head.headers['x-residency-outcome']).toBe('refused');
  });

  it('speaks the Anthropic envelope on a shared path to a caller that sends anthropic-version', async () => {
    const answer = await world.call('/v1/models', { headers: { 'anthropic-version': '2023-06-01' } });
    expect(await answer.body.json()).toMatchObject({
      type: 'error',
      error: { code: 'jurisdiction_missing' },
    });
  });

  it('gives a new request id in place of one that is no request id', async () => {
    const answer = await world.call('/v1/models', { headers: { 'x-request-id': 'two words <b>' } });
    expect(answer.headers['x-request-id']).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  });

  it('reports no path, query or key that the caller worded', async () => {
    const before = world.eu.reports.all.length;
    const path = '/v1/MARKER-PATH?key=MARKER-QUERY';
    await world.call(path, {
      headers: { ...ACME, 'x-jurisdiction': 'MARKER-TAG', 'x-workload': 'MARKER-LOAD' },
    });
    const [jws] = world.eu.reports.all.slice(before);
    const claims = await world.verifyReport(jws ?? '', 'eu');
    expect(claims.refusal).toEqual({ code: 'jurisdiction_unknown', status: 400 });
    expect(JSON.stringify(claims)).not.toMatch(/MARKER|rgk_/);
  });

  it('reaches a caller who is still sending 20 MB', async () => {
    const head = { ...ACME, 'x-jurisdiction': 'us', 'content-length': String(20 * MIB) };
    const answer = await rawExchange(
      world.edge.url,
      `POST /v1/chat/completions HTTP/1.1\r\nhost: ai.example\r\n${lines(head)}\r\n${'x'.repeat(20 * MIB)}`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 403 /);
    expect(answer).toContain('"code":"jurisdiction_mismatch"');
    expect(world.us.calls.all).toEqual([]);
  });

  it('names the right host to a caller of a wrong one, and serves it there', async () => {
    await world.edge.update({ origins: { eu: world.eu.url, us: world.us.url, ch: world.eu.url } });
    const headers = { 'x-jurisdiction': 'ch', authorization: `Bearer ${keyOf('chco')}` };
    const elsewhere = await world.call('/v1/models', { headers });
    expect([elsewhere.statusCode, await elsewhere.body.text()]).toEqual([
      421,
      expect.stringContaining('ch.ai.example'),
    ]);
    const there = await rawExchange(
      world.edge.url,
      `GET /v1/models HTTP/1.1\r\nhost: ch.ai.example:8787\r\n${lines(headers)}\r\n`,
    );
    expect(there).toMatch(/^HTTP\/1.1 200 /);
    expect((await world.eu.calls.next()).headers['x-jurisdiction']).toBe('ch');
  });
});
