import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { OriginConfig } from '../../origin/config.ts';
import { decodeHash } from '../../shared/base64.ts';
import { canonicalJson } from '../../shared/canonical.ts';
import { leafHash } from '../../shared/merkle/hash.ts';
import { verifyConsistency, verifyInclusion } from '../../shared/merkle/verify-proof.ts';
import { openCheckpoint } from '../../shared/open-checkpoint.ts';
import { parseTlogProof } from '../../shared/tlog-proof.ts';
import { parseVkey, type VerifierKey, verifierKey } from '../../shared/verifier-key.ts';
import { ED25519 } from '../independent/note.ts';
import { vkeyOf } from '../independent/signer.ts';
import { answerTo, chat, documentOf, presented } from '../support/calls.ts';
import { FaultyStore } from '../support/faulty-store.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { endedRecords } from '../support/served.ts';
import { startWitness, type TestWitness } from '../support/witness.ts';

const LOG = 'residency.test/eu';
const { privateKey } = generateKeyPairSync('ed25519');
const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
const logKeys = [verifierKey(LOG, 'ed25519', privateKey), verifierKey(LOG, 'cosignature', privateKey)];

const hash = z.string().transform((text) => {
  const bytes = decodeHash(text);
  if (bytes === undefined) throw new Error('not a hash');
  return bytes;
});
const shownSchema = z.object({
  checkpoint: z.string().nullable(),
  records: z.array(
    z.object({
      seq: z.int(),
      state: z.string(),
      record: z.looseObject({ kind: z.string() }),
      proof: z.object({ tree_size: z.int(), index: z.int(), hashes: z.array(hash) }).nullable(),
      tlog_proof: z.string().nullable(),
    }),
  ),
  consistency: z
    .object({ from: z.int(), to: z.int(), hashes: z.array(hash) })
    .nullable()
    .optional(),
});
type Shown = z.infer<typeof shownSchema>;

let gateway: TestGateway;
let witness: TestWitness;
let store: FaultyStore;

beforeAll(async () => {
  witness = await startWitness({ name: 'witness.example/w', logs: [vkeyOf(LOG, ED25519, x)] });
  gateway = await startGateway({
    eu: {
      amend: (config): OriginConfig => ({
        ...config,
        signingKey: { kid: 'test', privateKey },
        witnesses: [{ key: witnessKey(), url: new URL(witness.url) }],
        witnessQuorum: 1,
      }),
      wrapStore: (inner) => {
        store = new FaultyStore(inner);
        return store;
      },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await witness.close();
});

function witnessKey(): VerifierKey {
  const key = parseVkey(witness.vkey);
  if (!key.ok) throw new Error(key.error);
  return key.value;
}

const headers = () => presented('eu', gateway.eu.key('acme'));

async function call(requestId: string, model = 'support-chat', members: object = {}): Promise<void> {
  await answerTo(gateway.edge.url, '/v1/chat/completions', {
    headers: { ...headers(), 'x-request-id': requestId },
    body: chat(model, 'hello', members),
  });
  await endedRecords(gateway.eu, requestId);
}

async function shown(id: string, query = ''): Promise<Shown> {
  const answer = await answerTo(gateway.edge.url, `/v1/receipts/${id}${query}`, {
    method: 'GET',
    headers: headers(),
  });
  expect(answer.status).toBe(200);
  return shownSchema.parse(documentOf(answer));
}

/** The checkpoint of an answer, verified with the log's key; throws where it does not hold. */
function opened(note: string | null) {
  const checkpoint = openCheckpoint(note ?? '', { log: logKeys, witnesses: [witnessKey()] });
  if (!checkpoint.ok) throw new Error(checkpoint.error.reason);
  return checkpoint.value;
}

/** How many records of an answer are proven by it, with the log's key and nothing else. */
function provenIn({ checkpoint: note, records }: Shown): number {
  const { checkpoint } = opened(note);
  return records.filter(({ record, proof, tlog_proof }) => {
    const leaf = leafHash(canonicalJson(record));
    const text = parseTlogProof(tlog_proof ?? '');
    if (proof === null || !text.ok || proof.tree_size !== checkpoint.size) return false;
    const { root, size } = checkpoint;
    const claims = [
      { index: proof.index, proof: proof.hashes },
      { index: text.value.index, proof: text.value.hashes },
    ];
    return (
      text.value.checkpoint === note &&
      claims.every((claim) => verifyInclusion({ ...claim, size, root, leaf }))
    );
  }).length;
}

describe('the records of a call', () => {
  it.each([
    ['that was served', 'served', 'support-chat', {}],
    ['that was streamed', 'streamed', 'support-chat', { stream: true }],
    ['that was refused', 'refused', 'no-such-workload', {}],
  ])('%s are proven to whoever has the public key, at once', async (_, id, model, members) => {
    await call(id, model, members);
    const answer = await shown(id);
    expect(answer.records.length).toBeGreaterThan(0);
    expect(provenIn(answer)).toBe(answer.records.length);
  });

  it('are proven again later, under a newer checkpoint that continues the one of before', async () => {
    await call('first');
    const before = opened((await shown('first')).checkpoint).checkpoint;
    for (const id of ['second', 'third']) await call(id);
    await shown('third');
    const later = await shown('first', `?since=${before.size}`);
    const { checkpoint: after } = opened(later.checkpoint);
    expect(after.size).toBeGreaterThan(before.size);
    expect(provenIn(later)).toBe(later.records.length);
    const { from = -1, to = -1, hashes: proof = [] } = later.consistency ?? {};
    expect([from, to]).toEqual([before.size, after.size]);
    expect(verifyConsistency({ from, to, fromRoot: before.root, toRoot: after.root, proof })).toBe(true);
  });

  it.each(['999999', '-1', '1e1', '007', '', '%00', '9007199254740993'])(
    'come without a proof since the tree of "%s" records, which there never was',
    async (since) => {
      expect((await shown('served', `?since=${since}`)).consistency).toBeNull();
    },
  );

  it('come to be witnessed, and then the checkpoint has the line of the witness', async () => {
    await call('watched');
    const answer = await vi.waitFor(
      async () => {
        const latest = await shown('watched');
        expect(new Set(latest.records.map(({ state }) => state))).toEqual(new Set(['witnessed']));
        return latest;
      },
      { timeout: 10_000, interval: 50 },
    );
    expect(opened(answer.checkpoint).cosignatures.map(({ name }) => name)).toEqual(['witness.example/w']);
    expect(provenIn(answer)).toBe(answer.records.length);
  });

  it('are shown as published while the witness is away', async () => {
    witness.become('down');
    await call('unwatched');
    const answer = await shown('unwatched');
    witness.become('honest');
    expect(new Set(answer.records.map(({ state }) => state))).toEqual(new Set(['published']));
    expect(provenIn(answer)).toBe(answer.records.length);
  });

  it('are shown without a proof while no checkpoint can be made, and nothing else is held up', async () => {
    for (let time = 0; time < 20; time += 1) store.fail('publish', 'full', 'lost');
    await call('uncovered');
    const { records } = await shown('uncovered');
    expect(new Set(records.map(({ state, proof }) => `${state} ${proof}`))).toEqual(
      new Set(['sequenced null']),
    );
  });
});
