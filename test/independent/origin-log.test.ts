import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { chat } from '../support/calls.ts';
import { callOrigin, type DirectOrigin, startDirect } from '../support/direct.ts';
import { ADMIN_TOKEN } from '../support/zone.ts';
import { ED25519 } from './note.ts';
import { checkConsistency, checkTlogProof, readLog } from './reader.ts';
import { checkReceipt } from './receipt.ts';
import { vkeyOf } from './signer.ts';
import type { FetchPath } from './tiles.ts';

/** Refused calls beside the served ones: enough for a full tile and a partial one. */
const REFUSED = 260;

let origin: DirectOrigin;
let vkey: string;
const receipts = new Map<string, string>();
const checkpoints: string[] = [];

const askLog = (path: string, token = ADMIN_TOKEN): Promise<Response> =>
  fetch(`${origin.zone.origin.admin}/log/${path}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  });

const fetchPath: FetchPath = async (path) => {
  const answer = await askLog(path);
  if (answer.status !== 200) throw new Error(`/log/${path} answered ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
};

async function call(requestId: string, target: string, model: string, members: object = {}): Promise<void> {
  const headers = { 'x-request-id': requestId };
  const answer = await callOrigin(origin, target, { headers, body: chat(model, 'hello', members) });
  await answer.body.dump();
  const receipt = answer.headers['x-residency-receipt'];
  if (typeof receipt === 'string') receipts.set(requestId, receipt);
}

/** Stops the origin, which publishes what it has on record, and starts it again. */
async function publish(): Promise<void> {
  await origin.zone.restart();
  checkpoints.push(await (await askLog('checkpoint')).text());
}

beforeAll(async () => {
  origin = await startDirect();
  const file = await readFile(join(origin.zone.folder, 'origin.jwk.json'), 'utf8');
  const { x } = z.object({ x: z.string() }).parse(JSON.parse(file));
  vkey = vkeyOf('residency.test/eu', ED25519, x);
  await call('plain', '/v1/chat/completions', 'support-chat');
  await call('streamed', '/v1/chat/completions', 'support-chat', { stream: true });
  await publish();
  await call('messages', '/v1/messages', 'support-chat');
  for (let i = 0; i < REFUSED; i += 1) await call(`refused.${i}`, '/v1/chat/completions', 'no-such-workload');
  await publish();
});
afterAll(() => origin.zone.close());

describe('the log of an origin, for a reader who has only the specifications and its public key', () => {
  it('is whole: every record is in it once, in order, in canonical form, and every hash is right', async () => {
    const { leaves, size, origin: name } = await readLog(fetchPath, vkey);
    expect(name).toBe('residency.test/eu');
    expect(size).toBe(REFUSED + 3 * 3);
    const records = await origin.zone.records();
    expect(leaves.map(({ record }) => record)).toEqual(records.slice(0, size));
  });

  it('holds the record that each receipt commits to', async () => {
    const { leaves } = await readLog(fetchPath, vkey);
    expect([...receipts.keys()]).toEqual(['plain', 'streamed', 'messages']);
    for (const [requestId, receipt] of receipts) {
      const { rec } = z.object({ rec: z.string() }).parse(payloadOf(receipt));
      const entry = leaves.find(({ record }) => z.object({ id: z.literal(rec) }).safeParse(record).success);
      expect(await checkReceipt(receipt, vkey, entry?.entry ?? '')).toMatchObject({ rid: requestId });
    }
  });

  it('has only grown between two checkpoints', async () => {
    const [older = '', newer = ''] = checkpoints;
    expect(older).not.toBe(newer);
    await checkConsistency(older, newer, vkey, fetchPath);
  });

  it.each(['plain', 'streamed', 'messages', 'refused.259'])(
    'proves each record of the call %s',
    async (id) => {
      const { leaves } = await readLog(fetchPath, vkey);
      const answer = await callOrigin(origin, `/v1/receipts/${id}`, { method: 'GET' });
      const proofs = textsIn(await answer.body.json()).filter((text) =>
        text.startsWith('c2sp.org/tlog-proof@v1\n'),
      );
      const ofCall = z.object({ request_id: z.literal(id) });
      expect(proofs).toHaveLength(leaves.filter(({ record }) => ofCall.safeParse(record).success).length);
      for (const proof of proofs) {
        const index = Number(/^index (\d+)$/m.exec(proof)?.[1]);
        expect(ofCall.safeParse(leaves[index]?.record).success).toBe(true);
        expect(await checkTlogProof(proof, vkey, leaves[index]?.entry ?? '')).toMatchObject({ index });
      }
    },
  );

  it('is shown to nobody without the admin token, and has no file that its size does not have', async () => {
    expect((await askLog('checkpoint', 'another-token')).status).toBe(401);
    for (const path of [
      'tile/0/999',
      'tile/0/000.p/0',
      'tile/9/000',
      'tile/entries/999',
      'tile/0/0',
      'tile/00/000',
    ])
      expect((await askLog(path)).status, path).toBe(404);
  });

  it('is served with the types that its specification names', async () => {
    expect((await askLog('checkpoint')).headers.get('content-type')).toBe('text/plain; charset=utf-8');
    for (const path of ['tile/0/000', 'tile/entries/000'])
      expect((await askLog(path)).headers.get('content-type'), path).toBe('application/octet-stream');
  });
});

const payloadOf = (receipt: string): unknown =>
  JSON.parse(Buffer.from(receipt.split('.')[1] ?? '', 'base64url').toString());

/** Every text in a document, whatever the members are called. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
