import { describe, expect, it } from 'vitest';
import type { ProofLine, ReceiptLine } from '../../../shared/bundle.ts';
import { canonicalJson } from '../../../shared/canonical.ts';
import { formatTlogProof, parseTlogProof } from '../../../shared/tlog-proof.ts';
import type { Fault } from '../../../shared/verify/report.ts';
import { verifyBundle } from '../../../shared/verify/verify.ts';
import { referencePath } from '../merkle/reference-tree.ts';
import { filesOf, type Parts, partsOf, type Window } from './sample-bundle.ts';
import { BEGIN, busyLog, iso, signReceipt, testKey } from './sample-log.ts';

const log = busyLog();
const stranger = testKey('key-1');
const WHOLE: Window = { sizes: [0, 5, 12, log.size] };
const [, served] = log.records;
const servedId = served?.id ?? '';

/** A record of the log with something else in it. */
const altered = (place: number, members: object): string =>
  canonicalJson({ ...log.records[place], ...members });

const isReceipt = (line: ReceiptLine | string, record: string): line is ReceiptLine =>
  typeof line !== 'string' && line.record === record;

const isOf = (line: ProofLine | string, type: ProofLine['type']): boolean =>
  typeof line !== 'string' && line.type === type;

/** Does something with each line of proof of a type. */
const proofs = (
  parts: Parts,
  type: ProofLine['type'],
  change: (line: object) => object | undefined,
): void => {
  parts.proofs = parts.proofs.flatMap((line) => {
    if (typeof line === 'string' || !isOf(line, type)) return [line];
    const changed = change(line);
    return changed === undefined ? [] : [JSON.stringify(changed)];
  });
};

async function faultsOf(
  change: (parts: Parts) => void | Promise<void>,
  window: Window = WHOLE,
): Promise<readonly Fault[]> {
  const parts = await partsOf(log, window);
  await change(parts);
  const report = verifyBundle(filesOf(parts), log.trust(), { strict: true });
  expect(report.ok).toBe(false);
  return report.faults;
}

describe('a record', () => {
  it('that was changed is named, with its request and its place, and no other is', async () => {
    const faults = await faultsOf((parts) => {
      parts.records[1] = altered(1, { serving_region: 'us-east-1' });
    });
    expect(faults).toContainEqual(
      expect.objectContaining({ fault: 'changed', request_id: 'call-1', record: servedId, place: 1 }),
    );
    expect(faults.filter(({ fault }) => fault === 'changed')).toHaveLength(1);
    // Its receipt commits to a record that nobody has any more.
    expect(faults).toContainEqual(expect.objectContaining({ fault: 'missing', request_id: 'call-1' }));
    expect(faults.every(({ request_id }) => request_id === undefined || request_id === 'call-1')).toBe(true);
  });

  it('that was left out is named by its place', async () => {
    const faults = await faultsOf((parts) => parts.records.splice(6, 1) as never);
    expect(faults).toContainEqual(expect.objectContaining({ fault: 'missing', place: 6 }));
    // The call has lost its end with it.
    expect(faults.filter(({ place }) => place !== 6)).toMatchObject([
      { fault: 'unended', request_id: 'call-2' },
    ]);
  });

  it('that was swapped with its neighbour is named', async () => {
    const faults = await faultsOf((parts) => {
      [parts.records[3], parts.records[4]] = [parts.records[4] ?? '', parts.records[3] ?? ''];
    });
    expect(faults).toMatchObject([{ fault: 'moved', place: 3 }]);
  });

  it('that stands there twice is named', async () => {
    const faults = await faultsOf((parts) => void parts.records.splice(9, 0, parts.records[2] ?? ''));
    expect(faults).toMatchObject([{ fault: 'duplicate', place: 2, request_id: 'call-1' }]);
  });

  it('that was invented is named', async () => {
    const faults = await faultsOf(
      (parts) => void parts.records.splice(7, 0, altered(0, { id: '01M8RYG71TKKBNC2F33B4HZZZZ' })),
    );
    expect(faults).toMatchObject([{ fault: 'invented', record: '01M8RYG71TKKBNC2F33B4HZZZZ' }]);
  });

  it('that was cut off in the middle is named', async () => {
    const faults = await faultsOf((parts) => {
      const last = parts.records.length - 1;
      parts.records[last] = (parts.records[last] ?? '').slice(0, 40);
    });
    expect(faults).toMatchObject([
      { fault: 'changed', place: log.size - 1 },
      { fault: 'unended', request_id: 'call-6' },
    ]);
  });

  it('that was changed does not hide another one', async () => {
    const faults = await faultsOf((parts) => {
      for (const place of [0, 3, 8]) parts.records[place] = altered(place, { tenant: 'other' });
    });
    expect(faults.filter(({ fault }) => fault === 'changed').map(({ place }) => place)).toEqual([0, 3, 8]);
  });

  it('that was changed with its leaf hash leaves the rest to receipts that prove theirs by themselves', async () => {
    const parts = await partsOf(log, WHOLE);
    parts.records[0] = altered(0, { tenant: 'other' });
    proofs(parts, 'leaves', () => undefined);
    const report = verifyBundle(filesOf(parts), log.trust(), { strict: true });
    expect(report.faults).toContainEqual(expect.objectContaining({ fault: 'forged', place: 0 }));
    expect(report.receipts.map(({ request_id }) => request_id)).toContain('call-6');
  });

  it('of another zone in the log is named', async () => {
    const faults = await faultsOf((parts) => {
      parts.manifest.jurisdiction = 'us';
    });
    expect(faults).toHaveLength(log.size);
    expect(faults[0]).toMatchObject({ fault: 'other_log', place: 0 });
  });

  it('of a tenant that has no proof, or another record’s proof, is named', async () => {
    const window = { ...WHOLE, tenant: 'agency-de' };
    const place = log.records.findIndex(({ tenant }) => tenant === 'agency-de');
    const { id = '' } = log.records[place] ?? {};
    const without = await faultsOf((parts) => {
      proofs(parts, 'inclusion', (line) => ('record' in line && line.record === id ? undefined : line));
    }, window);
    expect(without).toContainEqual(expect.objectContaining({ fault: 'missing', record: id }));
    const changed = await faultsOf((parts) => {
      parts.records[0] = altered(place, { latency_ms: 1 });
    }, window);
    expect(changed).toContainEqual(expect.objectContaining({ fault: 'forged', record: id }));
  });

  it('of a tenant that was left out with all that speaks of it is missed by the manifest', async () => {
    const faults = await faultsOf(
      (parts) => {
        const record = JSON.parse(parts.records[0] ?? '').id;
        parts.records.shift();
        proofs(parts, 'inclusion', (line) => ('record' in line && line.record === record ? undefined : line));
      },
      { ...WHOLE, tenant: 'agency-de' },
    );
    expect(faults).toContainEqual(
      expect.objectContaining({ fault: 'missing', reason: '1 of 6 records of the tenant' }),
    );
  });

  it('of another tenant in a tenant’s bundle is named', async () => {
    const faults = await faultsOf(
      (parts) => {
        parts.manifest.tenant = 'acme';
      },
      { ...WHOLE, tenant: 'agency-de' },
    );
    expect(faults[0]).toMatchObject({ fault: 'other_log', reason: 'the record is not of the tenant acme' });
  });
});

describe('a record of a tenant', () => {
  const window = { ...WHOLE, tenant: 'agency-de' };

  it('that stands out of order, or twice, is named', async () => {
    const swapped = await faultsOf((parts) => void parts.records.reverse(), window);
    expect(swapped.filter(({ fault }) => fault === 'moved')).toHaveLength(5);
    const twice = await faultsOf((parts) => void parts.records.splice(1, 0, parts.records[0] ?? ''), window);
    expect(twice).toMatchObject([{ fault: 'duplicate', request_id: 'call-3' }]);
  });
});

it('two records of one id are named, though both were signed', async () => {
  const twice = busyLog(log.key);
  twice.add('refused', { id: servedId });
  const files = filesOf(await partsOf(twice, { sizes: [0, twice.size] }));
  expect(verifyBundle(files, log.trust(), { strict: false }).faults).toContainEqual(
    expect.objectContaining({ fault: 'duplicate', record: servedId }),
  );
});

describe('a checkpoint', () => {
  it('that another key signed is not believed', async () => {
    const faults = await faultsOf((parts) => {
      parts.notes = WHOLE.sizes.map((size) => log.checkpoint(size, BEGIN + size * 1_000, stranger));
    });
    expect(faults).toContainEqual(expect.objectContaining({ fault: 'unsigned' }));
  });

  it('whose size was changed is forged', async () => {
    const faults = await faultsOf((parts) => {
      parts.notes[1] = (parts.notes[1] ?? '').replace('\n5\n', '\n6\n');
    });
    expect(faults).toContainEqual(expect.objectContaining({ fault: 'forged' }));
  });

  it('with a size such as 007 is malformed', async () => {
    const faults = await faultsOf((parts) => {
      parts.notes[1] = (parts.notes[1] ?? '').replace('\n5\n', '\n005\n');
    });
    expect(faults).toContainEqual(expect.objectContaining({ fault: 'forged' }));
  });

  it('that stands out of order, or twice, is named', async () => {
    const swapped = await faultsOf((parts) => void parts.notes.reverse());
    expect(swapped).toContainEqual(expect.objectContaining({ fault: 'moved' }));
    const twice = await faultsOf((parts) => void parts.notes.splice(1, 0, parts.notes[1] ?? ''));
    expect(twice).toMatchObject([{ fault: 'duplicate' }]);
  });

  it('of one size with another root shows a split view', async () => {
    const other = busyLog(log.key);
    other.records[2] = { ...other.records[0], id: servedId } as never;
    const faults = await faultsOf((parts) => void parts.notes.splice(1, 0, other.checkpoint(5)));
    expect(faults).toContainEqual(expect.objectContaining({ fault: 'split_view' }));
  });

  it('is missed where the last hour was cut off', async () => {
    const faults = await faultsOf((parts) => {
      parts.notes.pop();
      parts.records.splice(12);
    });
    expect(faults).toContainEqual(
      expect.objectContaining({
        fault: 'missing',
        reason: expect.stringContaining('with which the window ends'),
      }),
    );
    expect(faults).toContainEqual(expect.objectContaining({ fault: 'gap', strict_only: true }));
  });

  it('is missed where the hour was cut off and the manifest says so, by one that the auditor holds', async () => {
    const parts = await partsOf(log, { sizes: [0, 4, 7] });
    const held = log.checkpoint(log.size);
    const report = verifyBundle(filesOf(parts), log.trust({ held }), { strict: false });
    expect(report.faults).toMatchObject([
      { fault: 'missing', reason: expect.stringContaining('when you got') },
    ]);
  });

  it('is missed where it is not the one that the manifest says the window follows', async () => {
    const faults = await faultsOf((parts) => {
      parts.manifest.first = { size: 4, at: iso(BEGIN) };
    });
    expect(faults).toContainEqual(
      expect.objectContaining({
        fault: 'missing',
        reason: 'the checkpoint of 4 records, which the window follows',
      }),
    );
  });

  it('that the auditor holds must be one of the same tree', async () => {
    const other = busyLog(log.key);
    other.records[0] = { ...other.records[0], tenant: 'other' } as never;
    const parts = await partsOf(log, { sizes: [5, 12, log.size] });
    const kinds = (held: string) =>
      verifyBundle(filesOf(parts), log.trust({ held }), { strict: false }).faults.map(({ fault }) => fault);
    for (const size of [5, 8, 12, log.size]) {
      expect(kinds(log.checkpoint(size))).toEqual([]);
      expect(kinds(other.checkpoint(size))).toEqual(['split_view']);
    }
    // The bundle does not reach back to it.
    expect(kinds(log.checkpoint(3))).toEqual(['missing']);
    expect(kinds(log.checkpoint(5, BEGIN, stranger))).toEqual(['unsigned']);
  });

  it('is missed where the begin of the window is not covered', async () => {
    const faults = await faultsOf((parts) => {
      parts.manifest.from = iso(BEGIN - 60_000);
    });
    expect(faults).toMatchObject([{ fault: 'gap', strict_only: true }]);
  });

  it('fails only a strict run where nothing shows that it continues the one before', async () => {
    const parts = await partsOf(log, WHOLE);
    proofs(parts, 'consistency', (line) => ('from' in line && line.from === 5 ? undefined : line));
    const loose = verifyBundle(filesOf(parts), log.trust(), { strict: false });
    expect(loose).toMatchObject({ ok: true, faults: [{ fault: 'inconsistent', strict_only: true }] });
    expect(verifyBundle(filesOf(parts), log.trust(), { strict: true }).ok).toBe(false);
  });
});

describe('a proof', () => {
  it('of another size of the tree is refused', async () => {
    const faults = await faultsOf((parts) => {
      proofs(parts, 'inclusion', (line) =>
        'record' in line && line.record === servedId ? { ...line, tree_size: 12 } : line,
      );
    });
    expect(faults).toMatchObject([{ fault: 'forged', request_id: 'call-1' }]);
  });

  it('of another place is refused', async () => {
    const faults = await faultsOf((parts) => {
      proofs(parts, 'inclusion', (line) =>
        'record' in line && line.record === servedId
          ? {
              ...line,
              index: 3,
              hashes: referencePath(3, log.leaves()).map((hash) => Buffer.from(hash).toString('base64')),
            }
          : line,
      );
    });
    expect(faults).toMatchObject([{ fault: 'forged', request_id: 'call-1' }]);
  });

  it('that is not there is missed', async () => {
    const faults = await faultsOf((parts) => {
      proofs(parts, 'inclusion', (line) => ('record' in line && line.record === servedId ? undefined : line));
      parts.tlogProofs.delete(`proofs/${servedId}.tlog-proof`);
    });
    expect(faults).toMatchObject([
      { fault: 'missing', request_id: 'call-1' },
      { fault: 'missing', request_id: 'call-1' },
    ]);
  });

  it('in a tlog-proof file must hold by itself', async () => {
    const name = `proofs/${servedId}.tlog-proof`;
    const faults = await faultsOf((parts) => {
      const proof = parseTlogProof(parts.tlogProofs.get(name) ?? '');
      if (!proof.ok) throw new Error(proof.error);
      const hashes = proof.value.hashes.toReversed();
      parts.tlogProofs.set(name, formatTlogProof({ ...proof.value, hashes }));
    });
    expect(faults).toMatchObject([{ fault: 'forged', request_id: 'call-1' }]);
  });

  it('under a checkpoint of nobody’s is forged', async () => {
    const name = `proofs/${servedId}.tlog-proof`;
    const faults = await faultsOf((parts) => {
      const proof = parseTlogProof(parts.tlogProofs.get(name) ?? '');
      if (!proof.ok) throw new Error(proof.error);
      const checkpoint = log.checkpoint(log.size, BEGIN, stranger);
      parts.tlogProofs.set(name, formatTlogProof({ ...proof.value, checkpoint }));
    });
    expect(faults).toMatchObject([{ fault: 'forged', request_id: 'call-1' }]);
  });

  it('of the edge of the tree must make the root that was signed', async () => {
    const window = { sizes: [5, log.size] };
    const changed = await faultsOf((parts) => {
      proofs(parts, 'range', () => ({
        type: 'range',
        size: 5,
        hashes: [`${'A'.repeat(43)}=`, `${'A'.repeat(43)}=`],
      }));
    }, window);
    expect(changed).toContainEqual(
      expect.objectContaining({ fault: 'forged', reason: expect.stringContaining('edge') }),
    );
    const gone = await faultsOf((parts) => {
      proofs(parts, 'range', () => undefined);
    }, window);
    expect(gone).toContainEqual(
      expect.objectContaining({ fault: 'missing', reason: expect.stringContaining('edge') }),
    );
  });
});

describe('a receipt', () => {
  const change =
    (record: string, to: (line: ReceiptLine) => Promise<ReceiptLine> | ReceiptLine) =>
    async (parts: Parts): Promise<void> => {
      parts.receipts = await Promise.all(
        parts.receipts.map((line) => (isReceipt(line, record) ? to(line) : line)),
      );
    };

  it('that was signed again with another key is forged', async () => {
    const receipt = await log.receipt(1, {}, stranger);
    const faults = await faultsOf(change(servedId, (line) => ({ ...line, receipt })));
    expect(faults).toMatchObject([{ fault: 'forged', request_id: 'call-1' }]);
  });

  it('whose key is not known is not signed by anyone', async () => {
    const receipt = await log.receipt(1, {}, testKey('key-9'));
    const faults = await faultsOf(change(servedId, (line) => ({ ...line, receipt })));
    expect(faults).toMatchObject([{ fault: 'unsigned', request_id: 'call-1' }]);
  });

  it('that was moved to another call is named', async () => {
    const other = await log.receipt(5);
    const faults = await faultsOf(change(servedId, (line) => ({ ...line, receipt: other })));
    expect(faults).toMatchObject([{ fault: 'moved', request_id: 'call-1' }]);
    const renamed = await faultsOf(change(servedId, (line) => ({ ...line, request_id: 'call-9' })));
    expect(renamed).toMatchObject([{ fault: 'moved', request_id: 'call-9' }]);
  });

  it('of another attempt of the same call is named', async () => {
    const retried = busyLog(log.key);
    const [, first] = retried.call('call-9');
    const [, second] = retried.call('call-9', { attempt: 2 });
    const parts = await partsOf(retried, { sizes: [0, retried.size] });
    const [one, two] = [first?.id, second?.id].map((id) =>
      parts.receipts.find((line) => isReceipt(line, id ?? '')),
    );
    if (typeof one !== 'object' || typeof two !== 'object') throw new Error('no receipts');
    [one.receipt, two.receipt] = [two.receipt, one.receipt];
    const { faults } = verifyBundle(filesOf(parts), log.trust(), { strict: false });
    expect(faults).toMatchObject([
      { fault: 'moved', request_id: 'call-9' },
      { fault: 'moved', request_id: 'call-9' },
    ]);
  });

  it('that the manifest counts and is not there is missed', async () => {
    const faults = await faultsOf((parts) => {
      parts.manifest.receipts += 2;
    });
    expect(faults).toMatchObject([{ fault: 'missing', reason: '2 of 8 receipts' }]);
  });

  it.each([
    ['serving_region', 'us-east-1'],
    ['endpoint', 'dub'],
    ['policy', 'eu-support@0.9.0'],
    ['sub', 'agency-de'],
    ['leaf', Buffer.alloc(32).toString('base64url')],
  ])('that says another %s than its record contradicts it', async (claim, value) => {
    const receipt = await log.receipt(1, { [claim]: value });
    const faults = await faultsOf(change(servedId, (line) => ({ ...line, receipt })));
    expect(faults).toMatchObject([
      { fault: 'contradicts', request_id: 'call-1', reason: expect.stringContaining(claim) },
    ]);
  });

  it('that leaves out what its record says contradicts it', async () => {
    const receipt = await log.receipt(1, { serving_region: undefined });
    const faults = await faultsOf(change(servedId, (line) => ({ ...line, receipt })));
    expect(faults).toMatchObject([{ fault: 'contradicts' }]);
  });

  it('of another log is named', async () => {
    const receipt = await log.receipt(1, { iss: 'residency.example/eu2' });
    const faults = await faultsOf(change(servedId, (line) => ({ ...line, receipt })));
    expect(faults).toMatchObject([{ fault: 'other_log', request_id: 'call-1' }]);
  });

  it('that was left out is missed, and one without a record too', async () => {
    const without = await faultsOf((parts) => {
      parts.receipts = parts.receipts.filter((line) => !isReceipt(line, servedId));
    });
    expect(without).toContainEqual(expect.objectContaining({ fault: 'missing', request_id: 'call-1' }));
    const record = '01M8RYG71TKKBNC2F33B4HZZZZ';
    const receipt = await signReceipt(
      {
        ...JSON.parse(Buffer.from((await log.receipt(1)).split('.')[1] ?? '', 'base64url').toString()),
        rec: record,
      },
      log.key,
    );
    const never = await faultsOf(
      (parts) => void parts.receipts.push({ request_id: 'call-1', record, receipt }),
    );
    expect(never).toMatchObject([{ fault: 'missing', request_id: 'call-1', record }]);
  });

  it('that stands there twice is named', async () => {
    const faults = await faultsOf((parts) => void parts.receipts.push(parts.receipts[0] ?? ''));
    expect(faults).toMatchObject([{ fault: 'duplicate', request_id: 'call-1' }]);
  });
});

describe('a file', () => {
  it('that was changed after the manifest was written is damaged', async () => {
    const files = filesOf(await partsOf(log, WHOLE));
    files.set('policies/x', new Uint8Array());
    files.set(
      'receipts.jsonl',
      Buffer.from(`${Buffer.from(files.get('receipts.jsonl') ?? []).toString()}{}\n`),
    );
    files.delete('proofs.jsonl');
    const { faults } = verifyBundle(files, log.trust(), { strict: false });
    expect(faults).toContainEqual(
      expect.objectContaining({ fault: 'damaged', reason: expect.stringContaining('receipts.jsonl') }),
    );
    expect(faults).toContainEqual(
      expect.objectContaining({ fault: 'unexpected', reason: expect.stringContaining('policies/x') }),
    );
    expect(faults).toContainEqual(
      expect.objectContaining({ fault: 'missing', reason: 'the file proofs.jsonl is not there' }),
    );
  });

  it('that ends in the middle of a line, or is not UTF-8, is malformed', async () => {
    const files = filesOf(await partsOf(log, WHOLE));
    const records = files.get('records.jsonl') ?? new Uint8Array();
    files.set('records.jsonl', records.subarray(0, -1));
    files.set('checkpoints.txt', Uint8Array.of(0xff, 0x0a));
    const { faults } = verifyBundle(files, log.trust(), { strict: false });
    expect(faults).toContainEqual(
      expect.objectContaining({ fault: 'malformed', reason: 'records.jsonl: the last line is cut off' }),
    );
    expect(faults).toContainEqual(
      expect.objectContaining({ fault: 'malformed', reason: 'checkpoints.txt is not UTF-8' }),
    );
  });

  it('that the manifest lists twice is named', async () => {
    const files = filesOf(await partsOf(log, WHOLE));
    const manifest = JSON.parse(Buffer.from(files.get('manifest.json') ?? []).toString());
    manifest.files.push(manifest.files[0]);
    files.set('manifest.json', Buffer.from(JSON.stringify(manifest)));
    expect(verifyBundle(files, log.trust(), { strict: false }).faults).toMatchObject([
      { fault: 'duplicate' },
    ]);
  });

  it('with a path that leads elsewhere is no file of a bundle', async () => {
    const files = filesOf(await partsOf(log, WHOLE));
    files.set('../../etc/passwd', new Uint8Array());
    files.set('proofs/../x.tlog-proof', new Uint8Array());
    const { faults } = verifyBundle(files, log.trust(), { strict: false });
    expect(faults.map(({ fault }) => fault)).toEqual(['unexpected', 'unexpected']);
  });

  it('that is the manifest must be there', async () => {
    const files = filesOf(await partsOf(log, WHOLE));
    files.delete('manifest.json');
    expect(verifyBundle(files, log.trust(), { strict: false })).toMatchObject({
      ok: false,
      faults: [{ fault: 'missing' }],
    });
  });
});
