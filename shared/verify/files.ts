import { hash } from 'node:crypto';
import { BUNDLE_FILES, BUNDLE_LIMITS, type Manifest, manifestSchema } from '../bundle.ts';
import { type NamedFile, strictJson, textOf } from './lines.ts';
import type { Faults } from './report.ts';

/** A bundle as it was handed over. Nothing in it is proven, and each part may come from anyone. */
export interface ClaimedBundle {
  readonly manifest: Manifest;
  readonly checkpoints: string;
  readonly records: NamedFile;
  readonly proofs: NamedFile;
  readonly receipts: NamedFile;
  /** By name. */
  readonly tlogProofs: ReadonlyMap<string, Uint8Array>;
  readonly policies: readonly NamedFile[];
}

const TLOG_PROOF = /^proofs\/[0-9A-Z]{26}\.tlog-proof$/;
const POLICY = /^policies\/[a-z0-9][a-z0-9-]{0,62}@[A-Za-z0-9][A-Za-z0-9.+_-]{0,63}-[0-9a-f]{8}\.yaml$/;
const FIXED: ReadonlySet<string> = new Set(Object.values(BUNDLE_FILES));

/** Whether a bundle may have a file of this name. */
export const isBundleFile = (name: string): boolean =>
  FIXED.has(name) || TLOG_PROOF.test(name) || POLICY.test(name);

/** Sorts the files of a bundle; undefined where there is no manifest that says what the rest should be. */
export function sortFiles(files: ReadonlyMap<string, Uint8Array>, faults: Faults): ClaimedBundle | undefined {
  const manifest = readManifest(files.get(BUNDLE_FILES.manifest), faults);
  if (manifest === undefined) return undefined;
  checkListed(files, manifest, faults);
  const named = (name: string): NamedFile => ({ name, bytes: files.get(name) ?? new Uint8Array() });
  const checkpoints = textOf(named(BUNDLE_FILES.checkpoints).bytes);
  if (checkpoints === undefined) faults.add('malformed', `${BUNDLE_FILES.checkpoints} is not UTF-8`);
  return {
    manifest,
    checkpoints: checkpoints ?? '',
    records: named(BUNDLE_FILES.records),
    proofs: named(BUNDLE_FILES.proofs),
    receipts: named(BUNDLE_FILES.receipts),
    tlogProofs: new Map([...files].filter(([name]) => TLOG_PROOF.test(name))),
    policies: [...files].filter(([name]) => POLICY.test(name)).map(([name, bytes]) => ({ name, bytes })),
  };
}

function readManifest(bytes: Uint8Array | undefined, faults: Faults): Manifest | undefined {
  if (bytes === undefined) {
    faults.add('missing', `there is no ${BUNDLE_FILES.manifest}: this is no bundle, or not all of it`);
    return undefined;
  }
  const text = bytes.length > BUNDLE_LIMITS.lineBytes * 128 ? undefined : textOf(bytes);
  const json = text && (strictJson(text.trimEnd()) ?? strictJson(text.trimEnd(), 2));
  const parsed = manifestSchema.safeParse(json);
  if (!parsed.success) {
    const where = parsed.error.issues[0]?.path.join('.') ?? '';
    faults.add('malformed', `${BUNDLE_FILES.manifest} is not a manifest of this version (${where})`);
    return undefined;
  }
  const { scope, tenant } = parsed.data;
  if ((scope === 'tenant') !== (tenant !== undefined))
    faults.add('malformed', `${BUNDLE_FILES.manifest}: scope and tenant do not fit`);
  return parsed.data;
}

/** The list of a manifest proves nothing; it tells a bundle that was damaged on its way from one that was forged. */
function checkListed(files: ReadonlyMap<string, Uint8Array>, manifest: Manifest, faults: Faults): void {
  const listed = new Map(manifest.files.map((file) => [file.name, file]));
  if (listed.size < manifest.files.length) faults.add('duplicate', 'the manifest lists a file twice');
  for (const [name, bytes] of files) {
    const entry = listed.get(name);
    if (!isBundleFile(name)) faults.add('unexpected', `${printable(name)} is no file of a bundle`);
    else if (name === BUNDLE_FILES.manifest) continue;
    else if (entry === undefined) faults.add('unexpected', `${name} is not in the manifest's list`);
    else if (entry.bytes !== bytes.length || entry.sha256 !== hash('sha256', bytes)) {
      faults.add('damaged', `${name} is not the file that the manifest lists`);
    }
  }
  const missing = [...listed.keys(), ...FIXED].filter((name) => !files.has(name));
  for (const name of new Set(missing)) faults.add('missing', `the file ${printable(name)} is not there`);
}

/** A name that came from anyone, without what a terminal would act on. */
export const printable = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 128);
