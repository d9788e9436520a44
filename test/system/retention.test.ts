import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { unpack } from '../../origin/cli/unpack.ts';
import { type Clock, systemClock } from '../../origin/clock.ts';
import { pruneViewSchema } from '../../origin/control/retention-view.ts';
import { decodeBase64url, decodeHash } from '../../shared/base64.ts';
import { canonicalJson } from '../../shared/canonical.ts';
import { parseCheckpoint } from '../../shared/checkpoint.ts';
import { leafHash } from '../../shared/merkle/hash.ts';
import { verifyConsistency, verifyInclusion } from '../../shared/merkle/verify-proof.ts';
import { parseNote } from '../../shared/note.ts';
import { receiptSchema } from '../../shared/receipt.ts';
import { recordSchema } from '../../shared/record.ts';
import { parseTrustedKeys } from '../../shared/verify/trust.ts';
import { verifyBundle } from '../../shared/verify/verify.ts';
import { askAdmin, wordsOf } from '../support/admin.ts';
import { chat, documentOf } from '../support/calls.ts';
import { type CommandFolder, commandFolder } from '../support/command.ts';
import { callOrigin, type DirectOrigin, startDirect } from '../support/direct.ts';

const DAY = 86_400_000;
const PATH = '/v1/chat/completions';

const hash = z.string().transform((text) => decodeHash(text) ?? new Uint8Array());
const shownSchema = z.object({
  checkpoint: z.string().nullable(),
  records: z.array(
    z.object({
      seq: z.int(),
      state: z.string(),
      pruned: z.literal(true).optional(),
      leaf: z.string(),
      record: recordSchema.nullable(),
      proof: z.object({ tree_size: z.int(), index: z.int(), hashes: z.array(hash) }).nullable(),
    }),
  ),
  consistency: z.object({ from: z.int(), to: z.int(), hashes: z.array(hash) }).optional(),
});
type Shown = z.infer<typeof shownSchema>;

/** The clock of the machine, a month late at first: the command's own clock agrees with the origin's afterwards. */
let late = 31 * DAY;
const clock: Clock = { ...systemClock, now: () => systemClock.now() - late };

let direct: DirectOrigin;
let folder: CommandFolder;
let receipts: readonly z.infer<typeof receiptSchema>[];
/** What could be proven before anything was pruned. */
let before: Shown;

async function call(id: string): Promise<z.infer<typeof receiptSchema>> {
  const answer = await callOrigin(direct, PATH, {
    headers: { 'x-request-id': id },
    body: chat('support-chat'),
  });
  await answer.body.dump();
  const [, claims = ''] = String(answer.headers['x-residency-receipt']).split('.');
  return receiptSchema.parse(JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')));
}

async function shown(path: string): Promise<Shown> {
  const answer = await callOrigin(direct, `/v1/receipts/${path}`, { method: 'GET' });
  return shownSchema.parse(await answer.body.json());
}

const headOf = ({ checkpoint }: Shown) => {
  const note = parseNote(checkpoint ?? '');
  const head = note.ok ? parseCheckpoint(note.value.text) : note;
  if (!head.ok) throw new Error(head.error);
  return head.value;
};

/** Whether a leaf stands in the tree of an answer's checkpoint as the answer says. */
function isIn(answer: Shown, { proof }: Shown['records'][number], leaf: Uint8Array): boolean {
  const { size, root } = headOf(answer);
  if (proof === null || proof.tree_size !== size) return false;
  return verifyInclusion({ index: proof.index, size, leaf, root, proof: proof.hashes });
}

const prune = (...args: string[]) =>
  folder.residency('audit', 'prune', '--why', 'the yearly one', '--by', 'ana', '--zone', 'eu', ...args);

beforeAll(async () => {
  direct = await startDirect({
    setup: { clock },
    policy: { retention_days: 30 },
    tenants: [{ id: 'acme' }, { id: 'beta' }],
  });
  folder = await commandFolder({ eu: direct.zone });
  receipts = [await call('old-one'), await call('old-two')];
  before = await shown('old-one');
});
afterAll(async () => {
  await folder?.remove();
  await direct?.zone.close();
});

describe('pruning by command, over a log of which proofs have been handed out', () => {
  it('is refused while the clocks of the command and of the origin are apart', async () => {
    const ran = await prune();
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([1, '', expect.stringContaining('5 minutes apart')]);
  });

  it('only tells with --dry-run, under which policy row', async () => {
    late = 0;
    const ran = await prune('--dry-run');
    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(/^policy +days +records/);
    expect(ran.stdout).toMatch(/eu-test@1\.0\.0 +30 +6 .*\n\n6 records would be pruned\.\n/);
    expect((await shown('old-one')).records).toHaveLength(3);
  });

  it('keeps what is under a hold, which is placed, listed and released by command', async () => {
    const placed = await folder.residency(
      'audit',
      'hold',
      'add',
      '--why',
      'case 12',
      '--tenant',
      'acme',
      '--json',
    );
    const {
      holds: [hold],
    } = JSON.parse(placed.stdout);
    const ran = await prune();
    expect(ran.stdout).toBe(
      '0 records were pruned.\n6 stay although their time is over: under a hold, with the other records of their calls.\n',
    );
    const released = await folder.residency(
      'audit',
      'hold',
      'release',
      hold.id,
      '--why',
      'settled',
      '--by',
      'ben',
    );
    expect([released.code, released.stdout]).toEqual([0, expect.stringMatching(/by ben\n$/)]);
  });

  it('warns of a hold on a tenant that there is not, and refuses one of nothing', async () => {
    const odd = await folder.residency(
      'audit',
      'hold',
      'add',
      '--why',
      'case 13',
      '--tenant',
      'acmme',
      '--to',
      '2020-01-01',
    );
    expect([odd.code, odd.stderr]).toEqual([
      0,
      expect.stringContaining('no tenant of this origin is called acmme'),
    ]);
    expect(odd.stdout).toContain('2020-01-01T23:59:59.999Z');
    expect(await folder.residency('audit', 'hold', 'add', '--why', 'case 14')).toMatchObject({ code: 2 });
  });

  it('drops the bodies, and says what went', async () => {
    const ran = await prune('--json');
    expect(pruneViewSchema.parse(JSON.parse(ran.stdout))).toMatchObject({
      state: 'done',
      by: 'ana',
      why: 'the yearly one',
      rules: [{ policy: 'eu-test@1.0.0', days: 30, basis: 'cited', records: 6 }],
    });
    const records = await askAdmin(direct.zone, 'GET', '/admin/records?after=-1&limit=6');
    expect(documentOf(records)).toMatchObject({
      records: Array.from({ length: 6 }, (_, seq) => ({ seq, record: null })),
    });
    const entries = await askAdmin(direct.zone, 'GET', '/log/tile/entries/000.p/1');
    expect([entries.status, wordsOf(entries)]).toEqual([404, expect.stringContaining('pruned')]);
  });

  it('leaves the proofs of before as good as they were', async () => {
    for (const entry of before.records) {
      expect(isIn(before, entry, leafHash(canonicalJson(entry.record ?? {})))).toBe(true);
    }
  });

  it('shows no tenant what is pruned, but to who has the receipt its place and its proof', async () => {
    const [receipt] = receipts;
    await askAdmin(direct.zone, 'POST', '/admin/checkpoints', {});
    expect((await shown('old-one')).records).toEqual([]);
    const now = await shown(`old-one?record=${receipt?.rec}&since=${headOf(before).size}`);
    expect(now.records).toMatchObject([
      { pruned: true, record: null, state: 'published', leaf: receipt?.leaf },
    ]);
    const [entry] = now.records;
    const leaf = decodeBase64url(receipt?.leaf ?? '');
    if (entry === undefined || leaf === undefined) throw new Error('nothing was shown');
    expect(isIn(now, entry, leaf)).toBe(true);
    const [from, to] = [headOf(before), headOf(now)];
    expect(to.size).toBeGreaterThan(from.size);
    const proof = now.consistency?.hashes ?? [];
    expect(
      verifyConsistency({ from: from.size, to: to.size, fromRoot: from.root, toRoot: to.root, proof }),
    ).toBe(true);
  });

  it('does not show a record that is not pruned to who only names it', async () => {
    const { rec } = await call('new-one');
    expect((await shown(`other?record=${rec}`)).records).toEqual([]);
  });

  it('writes bundles that an auditor finds whole', async () => {
    const out = await folder.residency(
      'audit',
      'export',
      '--zone',
      'eu',
      '--from',
      '-60d',
      '--out',
      'all.tar.gz',
    );
    expect(out.stderr).not.toContain('fault');
    const files = await unpack(createReadStream(join(folder.path, 'all.tar.gz')));
    const jwk = JSON.parse(await readFile(join(direct.zone.folder, 'origin.jwk.json'), 'utf8'));
    const keys = parseTrustedKeys(JSON.stringify({ ...jwk, d: undefined }));
    if (!files.ok || !keys.ok) throw new Error('no bundle, or no key');
    const report = verifyBundle(
      files.value,
      { keys: keys.value, witnesses: [], quorum: 0 },
      { strict: true },
    );
    expect(report).toMatchObject({ ok: true, records: { pruned: 6 }, faults: [] });
  });

  it('leaves nothing of what went in the database', async () => {
    await direct.zone.restart();
    await folder.pointTo({ eu: direct.zone });
    const file = await readFile(join(direct.zone.folder, 'log.db'));
    expect(file.includes('new-one')).toBe(true);
    expect(file.includes('old-one')).toBe(false);
    expect(file.includes(receipts[0]?.rec ?? '?')).toBe(true);
  });

  it('is found whole beside the running origin', async () => {
    const config = ['--config', direct.zone.configFile];
    const ran = await folder.residency('audit', 'fsck', ...config);
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    expect(ran.stdout).toMatch(
      /^residency\.test\/eu: \d+ records \(6 pruned, 0 calls without an end\), \d+ checkpoints\.\nThe log is whole\.\n$/,
    );
    expect(await folder.residency('audit', 'fsck', '--zone', 'eu')).toMatchObject({ code: 2 });
  });
});

describe('orders over what is kept', () => {
  it.each([
    ['without a reason', '/admin/prune', { by: 'ana' }],
    ['of nobody', '/admin/prune', { why: 'because' }],
    ['of too many lines', '/admin/prune', { by: 'ana', why: 'a\nb' }],
    ['with what is no order', '/admin/prune', { by: 'ana', why: 'x', days: 1 }],
    ['of no scope', '/admin/holds', { by: 'ana', why: 'x' }],
    ['of no tenant', '/admin/holds', { by: 'ana', why: 'x', tenant: 'A B' }],
    [
      'of a period that ends before it begins',
      '/admin/holds',
      { by: 'ana', why: 'x', from: '2026-02-01T00:00:00Z', to: '2026-01-01T00:00:00Z' },
    ],
    ['of a time without its offset', '/admin/holds', { by: 'ana', why: 'x', from: '2026-02-01T00:00:00' }],
    ['in no JSON', '/admin/holds', '{'],
  ])('%s are refused in words', async (_, path, order) => {
    const answer = await askAdmin(direct.zone, 'POST', path, order);
    expect([answer.status, wordsOf(answer)]).toEqual([400, expect.stringMatching(/.{10}/)]);
  });

  it('are refused to whoever has no token', async () => {
    for (const path of ['/admin/prune', '/admin/holds']) {
      expect(await askAdmin(direct.zone, 'POST', path, { by: 'x', why: 'y' }, {})).toMatchObject({
        status: 401,
      });
    }
  });
});
