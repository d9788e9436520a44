import { describe, expect, it } from 'vitest';
import { encodeBase64, encodeBase64url } from '../../../shared/base64.ts';
import { formatTlogProof } from '../../../shared/tlog-proof.ts';
import { verifyAnswer, verifyProof, verifyReceipt } from '../../../shared/verify/single.ts';
import { referencePath } from '../merkle/reference-tree.ts';
import { busyLog, LOG, signReceipt, testKey } from './sample-log.ts';

const log = busyLog();
const trust = log.trust();
const receipt = await log.receipt(1);
const [head = '', body = '', tail = ''] = receipt.split('.');
const claims: object = JSON.parse(Buffer.from(body, 'base64url').toString());
const part = (value: object | string): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

describe('one receipt', () => {
  it('shows who signed what', () => {
    expect(verifyReceipt(`${receipt}\n`, trust)).toMatchObject({
      ok: true,
      scope: 'receipt',
      log: LOG,
      faults: [],
      receipts: [{ request_id: 'call-1', tenant: 'acme', endpoint: 'fra', serving_region: 'eu-central-1' }],
    });
  });

  it.each([
    [
      'of another alg',
      async () => `${part({ alg: 'none', typ: 'residency-receipt+jwt', kid: 'key-1' })}.${body}.${tail}`,
      'malformed',
    ],
    ['of another typ', async () => await signReceipt(claims, log.key, { typ: 'JWT' }), 'malformed'],
    [
      'with a critical header',
      async () =>
        `${part('{"alg":"EdDSA","typ":"residency-receipt+jwt","kid":"key-1","crit":["x"]}')}.${body}.${tail}`,
      'malformed',
    ],
    [
      'with a member twice in its header',
      async () =>
        `${part('{"alg":"EdDSA","alg":"EdDSA","typ":"residency-receipt+jwt","kid":"key-1"}')}.${body}.${tail}`,
      'malformed',
    ],
    [
      'with another text for the same bits',
      async () => `${head}.${body}.${tail.slice(0, -1)}${tail.endsWith('A') ? 'B' : 'Z'}`,
      undefined,
    ],
    ['with padding', async () => `${head}.${body}.${tail}==`, 'malformed'],
    [
      'with changed claims',
      async () => `${head}.${part({ ...claims, serving_region: 'eu-west-1' })}.${tail}`,
      'forged',
    ],
    ['with more claims', async () => await signReceipt({ ...claims, note: 'x' }, log.key), 'malformed'],
    ['of a stranger', async () => await signReceipt(claims, testKey('key-1')), 'forged'],
    ['of an unknown key', async () => await signReceipt(claims, testKey('key-2')), 'unsigned'],
    ['of one part', async () => head, 'malformed'],
  ])('%s is not believed', async (_, make, fault) => {
    const report = verifyReceipt(await make(), trust);
    expect(report).toMatchObject({ ok: false, receipts: [] });
    expect(report.faults).toMatchObject([fault === undefined ? {} : { fault }]);
  });

  it('of a time at which its key was not valid is not believed', async () => {
    const expired = testKey('key-1', { notAfter: 0 });
    const report = verifyReceipt(await signReceipt(claims, expired), { ...trust, keys: [expired.trusted] });
    expect(report).toMatchObject({ ok: false, faults: [{ fault: 'key_not_valid' }] });
  });

  it('of a log of another name is named', () => {
    expect(verifyReceipt(receipt, { ...trust, log: 'x' })).toMatchObject({
      ok: false,
      faults: [{ fault: 'other_log' }],
    });
  });
});

const leaves = log.leaves();
const checkpoint = log.checkpoint();
const proofOf = (place: number) =>
  formatTlogProof({ index: place, hashes: referencePath(place, leaves), checkpoint });

describe('a tlog-proof', () => {
  it('proves the record that it is about, and no other', () => {
    expect(verifyProof(proofOf(4), trust, log.entry(4))).toMatchObject({ ok: true, records: { proven: 1 } });
    expect(verifyProof(proofOf(4), trust, `${log.entry(4)}\n`).ok).toBe(true);
    expect(verifyProof(proofOf(4), trust, log.entry(5))).toMatchObject({
      faults: [{ fault: 'forged', place: 4 }],
    });
  });

  it('without its record proves the checkpoint alone', () => {
    expect(verifyProof(proofOf(4), trust)).toMatchObject({
      ok: false,
      faults: [{ fault: 'missing' }],
      checkpoints: { last: { size: log.size } },
    });
  });

  it.each([
    ['an index with a leading zero', (text: string) => text.replace('index 4', 'index 04')],
    ['junk in base64', (text: string) => text.replace('\nindex 4\n', '\nindex 4\n*')],
    ['no header', (text: string) => text.slice(1)],
  ])('with %s is malformed', (_, change) => {
    expect(verifyProof(change(proofOf(4)), trust, log.entry(4)).faults).toMatchObject([
      { fault: 'malformed' },
    ]);
  });
});

const answer = () => ({
  request_id: 'call-1',
  log: LOG,
  checkpoint: checkpoint as string | null,
  has_more: false,
  records: [0, 1, 2].map((seq) => ({
    seq,
    state: 'published',
    leaf: encodeBase64url(leaves[seq] ?? Buffer.alloc(0)),
    record: log.records[seq] as object,
    proof: { tree_size: log.size, index: seq, hashes: referencePath(seq, leaves).map(encodeBase64) } as
      | object
      | null,
    tlog_proof: proofOf(seq) as string | null,
  })),
});

describe('the answer of /v1/receipts/<request-id>', () => {
  const verified = (change: (value: ReturnType<typeof answer>) => void) => {
    const value = answer();
    change(value);
    return verifyAnswer(JSON.stringify(value), trust);
  };

  it('proves each record of the call', () => {
    expect(verified(() => undefined)).toMatchObject({
      ok: true,
      faults: [],
      records: { proven: 3 },
      receipts: [{ request_id: 'call-1', serving_region: 'eu-central-1', place: 1 }],
    });
  });

  it('proves a record whose body was pruned by the hash that is left of it', () => {
    const pruned = { record: null, pruned: true };
    const report = verified(({ records }) => void Object.assign(records[1] ?? {}, pruned));
    expect(report).toMatchObject({ ok: true, faults: [], records: { proven: 2, pruned: 1 }, receipts: [] });
    const other = { ...pruned, leaf: encodeBase64url(Buffer.alloc(32)) };
    const forged = verified(({ records }) => void Object.assign(records[1] ?? {}, other));
    expect(forged.faults).toMatchObject([{ fault: 'forged', place: 1 }]);
  });

  it.each<[string, (value: ReturnType<typeof answer>) => void, string]>([
    [
      'a record that was changed',
      ({ records }) => void Object.assign(records[1] ?? {}, { record: { ...log.records[1], tenant: 'x' } }),
      'forged',
    ],
    [
      'a proof of another size',
      ({ records }) => void Object.assign(records[1]?.proof ?? {}, { tree_size: 5 }),
      'forged',
    ],
    ['a proof of another place', ({ records }) => void Object.assign(records[1] ?? {}, { seq: 2 }), 'forged'],
    [
      'a proof that names another place',
      ({ records }) => void Object.assign(records[1]?.proof ?? {}, { index: 7 }),
      'forged',
    ],
    ['a record of another call', (value) => void Object.assign(value, { request_id: 'call-2' }), 'moved'],
    ['no checkpoint yet', (value) => void Object.assign(value, { checkpoint: null }), 'missing'],
    [
      'a checkpoint of a stranger',
      (value) => void Object.assign(value, { checkpoint: log.checkpoint(log.size, 0, testKey('key-1')) }),
      'unsigned',
    ],
    [
      'a proof text that does not hold',
      ({ records }) => void Object.assign(records[1] ?? {}, { tlog_proof: proofOf(2) }),
      'forged',
    ],
    ['no records', (value) => void Object.assign(value, { records: undefined }), 'malformed'],
  ])('with %s is not proven', (_, change, fault) => {
    const report = verified(change);
    expect(report.ok).toBe(false);
    expect(report.faults.map((one) => one.fault)).toContain(fault);
  });
});
