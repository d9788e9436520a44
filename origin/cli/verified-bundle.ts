import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Result } from '../../shared/result.ts';
import type { Report } from '../../shared/verify/report.ts';
import { parseTrustedKeys } from '../../shared/verify/trust.ts';
import { verifyBundle } from '../../shared/verify/verify.ts';
import { windowOf } from '../audit/bundle/window.ts';
import { writeBundle } from '../audit/bundle/write-bundle.ts';
import { type Evidence, evidenceOf } from '../audit/reports/evidence.ts';
import { readBounded } from '../config/bounded-file.ts';
import { UsageFault } from '../usage-fault.ts';
import { type AdminOptions, oneOrigin, withAdminOptions } from './admin-client.ts';
import { adminLog } from './admin-log.ts';
import { unpack } from './unpack.ts';
import { reportText } from './verify-text.ts';
import { spanBetween, WHEN_FORMS } from './when.ts';

export interface BundleOptions extends AdminOptions {
  readonly from?: string;
  readonly to: string;
  readonly bundle?: string;
  readonly pubkey?: string;
}

/** A bundle that is proven, and what else its verifier had to say. */
export interface VerifiedBundle {
  readonly evidence: Evidence;
  readonly report: Report;
}

type Files = ReadonlyMap<string, Uint8Array>;

/** The options by which a person names what a report is made of. @param from where `--from` is left out */
export const withBundleOptions = (command: Command, from?: string): Command =>
  withAdminOptions(command)
    .option('--from <when>', `begin of the window: ${WHEN_FORMS}`, from)
    .option('--to <when>', 'end of the window', 'now')
    .option('--bundle <file>', 'report on this bundle and its window, and ask no origin')
    .option(
      '--pubkey <file>',
      "public keys of the log; without it the origin's own word is taken for its key",
    )
    .option('--json', 'print one JSON object');

/**
 * The bundle that the options name, or one that is made now, verified. Rejects where it is not proven: nothing is
 * said about what may be forged. @param tenant whose zone it is, where the options name none
 */
export async function verifiedBundle(options: BundleOptions, tenant?: string): Promise<VerifiedBundle> {
  const { files, keys } = await (options.bundle === undefined
    ? exported(options, tenant)
    : given(options.bundle));
  const text = options.pubkey === undefined ? keys : read(options.pubkey);
  if (text === undefined) throw new UsageFault('a bundle is verified with the key that you name by --pubkey');
  const trusted = usable(options.pubkey ?? 'the key of the origin', parseTrustedKeys(text));
  const report = verifyBundle(files, { keys: trusted, witnesses: [], quorum: 0 }, { strict: false });
  if (report.ok) return { evidence: evidenceOf(files), report };
  process.stderr.write(reportText(report));
  const hint =
    options.pubkey === undefined ? ' If the log had another key before, name all by --pubkey.' : '';
  throw new Error(`the bundle is not proven, so nothing is told from it.${hint}`);
}

async function given(bundle: string): Promise<{ files: Files; keys: undefined }> {
  return { files: usable(bundle, await unpack(createReadStream(bundle))), keys: undefined };
}

async function exported(options: BundleOptions, tenant?: string): Promise<{ files: Files; keys: string }> {
  const { from, to } = options;
  if (from === undefined) throw new UsageFault('say where the window begins, with --from (say -90d)');
  const now = Date.now();
  const span = spanBetween({ from, to }, now);
  const log = await adminLog(await oneOrigin(options, tenant));
  const window = await windowOf(log, span);
  if (window === undefined) throw new UsageFault(`the time from ${span.from} on has not come yet`);
  const folder = await mkdtemp(join(tmpdir(), 'residency-report-'));
  try {
    const file = join(folder, 'bundle.tar.gz');
    const destination = createWriteStream(file, { flags: 'wx', mode: 0o600 });
    const createdAt = new Date(now).toISOString();
    const { unkept } = await writeBundle(log, window, { destination, folder }, { createdAt });
    for (const policy of unkept)
      process.stderr.write(`The policy ${policy} is not kept by this origin any more.\n`);
    return { files: usable(file, await unpack(createReadStream(file))), keys: log.vkey };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function read(file: string): string {
  const bytes = readBounded(file);
  if (!bytes.ok) throw new UsageFault(`${file} ${bytes.error}`);
  return bytes.value.toString('utf8');
}

function usable<T>(what: string, result: Result<T, string>): T {
  if (!result.ok) throw new UsageFault(`${what} ${result.error}`);
  return result.value;
}
