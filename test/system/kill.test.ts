import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeRecord } from '../../origin/audit/encode.ts';
import { type RunningEdge, startEdge } from '../../origin/dev/edge.ts';
import { type OriginProcess, startOriginProcess } from '../../origin/dev/origin-process.ts';
import { type Provider, startProvider } from '../../origin/dev/provider.ts';
import { newSigningKey } from '../../origin/keys/signing-key.ts';
import { openSqliteReader } from '../../origin/store/sqlite.ts';
import { type AuditRecord, END_KINDS } from '../../shared/record.ts';
import { keysOf, writeConfig } from '../support/zone.ts';

const isEnd = ({ kind }: AuditRecord) => END_KINDS.some((end) => end === kind);

describe('an origin that is killed', () => {
  let folder: string;
  let config: string;
  let key: string;
  let provider: Provider;
  let origin: OriginProcess;
  let edge: RunningEdge;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'residency-kill-'));
    const edgeKey = (await newSigningKey()).private;
    provider = await startProvider({ name: 'fra' });
    const tenants = [{ id: 'acme' }];
    const keys = keysOf(tenants);
    key = keys.get('acme/main') ?? '';
    const spec = {
      zone: 'eu' as const,
      edgeKey,
      endpoints: [{ id: 'fra', region: 'eu-central-1' }],
      tenants,
      countries: ['EEA'],
    };
    config = await writeConfig(folder, spec, new Map([['fra', provider]]), keys);
    await start();
    edge = await startEdge({
      port: 0,
      origins: { eu: origin.url },
      unattributedHome: 'eu',
      signingKey: edgeKey,
    });
    await edge.putTenant('acme', { jurisdiction: 'eu', state: 'active', version: 1 });
  });

  afterEach(async () => {
    await edge.close();
    await origin.stop();
    await provider.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function start(): Promise<void> {
    const environment = { TEST_ADMIN_TOKEN: 'test-admin-token-0123456789' };
    origin = await startOriginProcess(config, join(folder, 'origin.log'), environment);
  }

  async function kill(): Promise<void> {
    const gone = new Promise((resolve) => origin.process.once('exit', resolve));
    origin.process.kill('SIGKILL');
    await gone;
  }

  async function records(): Promise<AuditRecord[]> {
    const reader = await openSqliteReader({ path: join(folder, 'log.db'), zone: 'eu' });
    const rows = await reader.latest(1_000);
    await reader.close();
    return rows.map(decodeRecord);
  }

  const chat = (requestId: string, stream = false): Promise<Response> =>
    fetch(`${edge.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'x-jurisdiction': 'eu',
        'x-request-id': requestId,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: 'support-chat', stream, messages: [{ role: 'user', content: 'hello' }] }),
    });

  it('between pending and the answer leaves a call that ends as abandoned, and a caller who is told', async () => {
    provider.order({ gate: 'headers' });
    const answer = chat('killed-early');
    await provider.waitFor(({ path }) => path.endsWith('/chat/completions'));
    await kill();
    expect((await answer).status).toBe(503);
    expect((await answer).headers.get('x-residency-decided-by')).toBe('edge');
    await start();
    const kinds = (await records()).filter(({ request_id }) => request_id === 'killed-early');
    expect(kinds.map(({ kind }) => kind)).toEqual(['pending', 'abandoned']);
    expect(kinds[1]).toMatchObject({ pending_id: kinds[0]?.id, tenant: 'acme', endpoint: 'fra' });
  });

  it('in the middle of a stream keeps the record that its receipt names, and ends the call', async () => {
    provider.order({ gate: 'frame' });
    const answer = await chat('killed-late', true);
    const receipt = decodeJwt(answer.headers.get('x-residency-receipt') ?? '');
    await kill();
    await answer.text().catch(() => undefined);
    await start();
    const kept = (await records()).filter(({ request_id }) => request_id === 'killed-late');
    expect(kept.map(({ kind }) => kind)).toEqual(['pending', 'served', 'abandoned']);
    expect(receipt.rec).toBe(kept[1]?.id);
  });

  it('under load loses no record of an answered call, and every pending has one end', async () => {
    const receipts: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      let answered = 0;
      const half = Promise.withResolvers<void>();
      const calls = Array.from({ length: 48 }, async (_, index) => {
        const response = await chat(`round-${round}-${index}`).catch(() => undefined);
        const receipt = response?.headers.get('x-residency-receipt');
        if (typeof receipt === 'string') receipts.push(receipt);
        answered += 1;
        if (answered === 8 * (round + 1)) half.resolve();
      });
      await half.promise;
      await kill();
      await Promise.all(calls);
      await start();
      await edge.update({ origins: { eu: origin.url } });
    }
    const kept = await records();
    const pendings = kept.filter(({ kind }) => kind === 'pending');
    for (const { id } of pendings)
      expect(kept.filter((record) => isEnd(record) && record.pending_id === id)).toHaveLength(1);
    expect(receipts.length).toBeGreaterThan(0);
    for (const receipt of receipts) expect(kept.map(({ id }) => id)).toContain(decodeJwt(receipt).rec);
    // What reached the endpoint is on record, all of it; more may be, as a record comes first.
    expect(pendings.length).toBeGreaterThanOrEqual(provider.receivedTotal);
    expect(await readFile(join(folder, 'origin.log'), 'utf8')).not.toContain('hello');
  });
});
