import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUNDLE_FILES } from '../../../shared/bundle.ts';
import { canonicalJson } from '../../../shared/canonical.ts';
import type { FaultKind } from '../../../shared/verify/report.ts';
import { verifyBundle } from '../../../shared/verify/verify.ts';
import { filesOf, type Parts, partsOf } from './sample-bundle.ts';
import { busyLog, SampleLog } from './sample-log.ts';

const log = busyLog();
const sound = await partsOf(log, { sizes: [0, 5, log.size] });
const run = (parts: Parts) => verifyBundle(filesOf(parts), log.trust(), { strict: false });
const kinds = (parts: Parts): ReadonlySet<FaultKind> => new Set(run(parts).faults.map(({ fault }) => fault));

/** Rewrites the first line of proof of this type. */
const withProof = (type: string, change: (text: string) => string): Parts => {
  const index = sound.proofs.findIndex((line) => typeof line !== 'string' && line.type === type);
  return { ...sound, proofs: sound.proofs.with(index, change(JSON.stringify(sound.proofs[index]))) };
};

describe('a line of proof', () => {
  it.each<[string, string, (text: string) => string]>([
    ['base64 without padding', 'inclusion', (text) => text.replace('="', '"')],
    ['base64 with junk', 'inclusion', (text) => text.replace('="', '=\\n"')],
    ['another text for the same bytes', 'inclusion', (text) => text.replace(/.="/, '/="')],
    ['a number as text', 'inclusion', (text) => text.replace(/"index":(\d+)/, '"index":"$1"')],
    ['a number with a fraction', 'inclusion', (text) => text.replace(/"index":(\d+)/, '"index":$1.5')],
    ['a negative number', 'consistency', (text) => text.replace(/"from":(\d+)/, '"from":-$1.5')],
    ['a leading zero', 'consistency', (text) => text.replace(/"from":(\d+)/, '"from":0$1')],
    ['a number beyond 2^53', 'leaves', (text) => text.replace(/"first":(\d+)/, '"first":9007199254740993')],
    ['a member twice', 'range', (text) => text.replace('"size":0', '"size":0,"size":0')],
    ['a member that is not known', 'range', (text) => text.replace('"size":0', '"size":0,"note":1')],
    ['white space', 'range', (text) => text.replace('"size":0', '"size": 0')],
    ['a byte-order mark', 'range', (text) => `\uFEFF${text}`],
    ['no JSON', 'range', () => '{'],
    ['nesting beyond the stack', 'range', () => '['.repeat(200_000)],
    ['a line beyond the limit', 'range', () => `"${'x'.repeat(1024 * 1024)}"`],
    ['an empty line', 'range', () => ''],
    [
      'more hashes than a tree is high',
      'inclusion',
      (text) => text.replace('"hashes":[', `"hashes":[${'"x",'.repeat(70)}`),
    ],
  ])('with %s is malformed (%s)', (_, type, change) => {
    expect(kinds(withProof(type, change))).toContain('malformed');
  });
});

describe('a record', () => {
  /** A log in which the operator wrote this line, and signed it. */
  const signed = async (text: string): Promise<ReadonlySet<FaultKind>> => {
    const own = new SampleLog(log.key);
    own.add('refused');
    own.entry = () => text;
    const { referenceLeaf } = await import('../merkle/reference-tree.ts');
    own.leaves = (size = 1) => [referenceLeaf(Buffer.from(text))].slice(0, size);
    const report = verifyBundle(filesOf(await partsOf(own, { sizes: [0, 1] })), log.trust(), {
      strict: false,
    });
    return new Set(report.faults.map(({ fault }) => fault));
  };
  const text = log.entry(3);

  it('in its canonical form is the only one', async () => {
    expect(await signed(text)).toEqual(new Set());
  });

  it.each<[string, (text: string) => string]>([
    ['has a member twice', (own) => own.replace('"v":1', '"v":1,"v":1')],
    ['has white space', (own) => own.replace('"v":1', '"v": 1')],
    ['has its members in another order', (own) => own.replace(/^\{("at":"[^"]*"),(.*)\}$/, '{$2,$1}')],
    ['spells a number otherwise', (own) => own.replace('"v":1', '"v":1.0')],
    ['escapes what needs no escape', (own) => own.replace('acme', '\\u0061cme')],
    ['has text that is no Unicode', (own) => own.replace('"acme"', '"\\ud800"')],
    ['has a member for a prompt', (own) => own.replace('"v":1', '"prompt":"x","v":1')],
    ['is of another version', (own) => own.replace('"v":1', '"v":2')],
    ['is no JSON', (own) => own.slice(0, -1)],
    ['is dropped and not dropped', () => '{"leaf":"x","pruned":true}'],
  ])('that %s is malformed, though it was signed', async (_, change) => {
    expect(change(text)).not.toBe(text);
    expect(await signed(change(text))).toContain('malformed');
  });
});

describe('hostile input', () => {
  it('of any bytes in any file never throws, and is never proven', () => {
    const names = [...filesOf(sound).keys()];
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.uint8Array({ maxLength: 400 }), (name, bytes) => {
        const files = filesOf(sound).set(name, bytes);
        return !verifyBundle(files, log.trust(), { strict: false }).ok;
      }),
      { numRuns: 200 },
    );
  });

  it('of one changed byte anywhere is found', () => {
    const files = filesOf(sound);
    const names = [...files.keys()].filter((name) => name !== BUNDLE_FILES.manifest);
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(), fc.integer({ min: 1, max: 255 }), (name, at, bits) => {
        const parts = new Map(files);
        const bytes = Uint8Array.from(files.get(name) ?? []);
        const place = at % bytes.length;
        bytes[place] = (bytes[place] ?? 0) ^ bits;
        return !verifyBundle(parts.set(name, bytes), log.trust(), { strict: false }).ok;
      }),
      { numRuns: 200 },
    );
  });

  it('of lines without end is listed within bounds', () => {
    const files = filesOf(sound).set(BUNDLE_FILES.records, new Uint8Array(200_000).fill(0x0a));
    const { ok, faults, more_faults } = verifyBundle(files, log.trust(), { strict: false });
    expect(ok).toBe(false);
    expect(faults.length).toBeLessThanOrEqual(100_000);
    expect(more_faults).toBeGreaterThan(0);
  });

  it('of doubled and unknown things in the manifest is refused', () => {
    const files = filesOf(sound);
    const manifest = Buffer.from(files.get(BUNDLE_FILES.manifest) ?? []).toString();
    for (const changed of [
      manifest.replace('"version": 1', '"version": 1,\n  "version": 1'),
      manifest.replace('"version": 1', '"version": 2'),
      manifest.replace('"scope": "log"', '"scope": "tenant"'),
      manifest.replace('"log"', '"logs"'),
      `${manifest}${manifest}`,
    ]) {
      const report = verifyBundle(
        new Map(files).set(BUNDLE_FILES.manifest, Buffer.from(changed)),
        log.trust(),
        { strict: false },
      );
      expect(report.faults).toContainEqual(expect.objectContaining({ fault: 'malformed' }));
    }
  });
});

it('canonical form is told alike by the quick way and by building it anew', async () => {
  const { isCanonicalJson } = await import('../../../shared/canonical.ts');
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
      fc.boolean(),
      (value, sorted) => {
        const text = sorted ? anew(value) : JSON.stringify(value);
        if (text === undefined) return true;
        const parsed = JSON.parse(text);
        return isCanonicalJson(parsed, text) === (anew(parsed) === text);
      },
    ),
  );
});

function anew(value: object): string | undefined {
  try {
    return canonicalJson(value);
  } catch {
    return undefined;
  }
}
