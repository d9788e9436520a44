import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { Command } from 'commander';
import { TENANT_ID } from '../../shared/gateway-key.ts';
import type { Collected } from '../audit/bundle/collect.ts';
import { type Window, windowOf } from '../audit/bundle/window.ts';
import { writeBundle } from '../audit/bundle/write-bundle.ts';
import { typedCommand } from '../typed-command.ts';
import { UsageFault } from '../usage-fault.ts';
import { type AdminOptions, oneOrigin, withAdminOptions } from './admin-client.ts';
import { type AdminLog, adminLog } from './admin-log.ts';
import { spanBetween, WHEN_FORMS } from './when.ts';
import { assertNew, writeWhole } from './whole-file.ts';

/** Exit code: the bundle is written, and its verifier will find faults. */
const FAULTY = 1;

interface ExportOptions extends AdminOptions {
  readonly from: string;
  readonly to: string;
  readonly tenant?: string;
  readonly out?: string;
  readonly json?: boolean;
}

/** `residency audit export`: a bundle that proves to anyone with the public key what the log holds. */
export const exportCommand = (): Command =>
  withAdminOptions(new Command('export'))
    .description(
      `Writes a bundle of records, receipts and proofs for "residency verify". It holds what lies between the checkpoints around the time that is asked for, and a little after it, where calls have their ends. Times are ${WHEN_FORMS}. Exit 1: written, but the verifier will find faults.`,
    )
    .requiredOption('--from <when>', 'begin of the window')
    .option('--to <when>', 'end of the window', 'now')
    .option('--tenant <id>', 'only records of this tenant, each with a proof of its own')
    .option(
      '--out <file>',
      'where it goes (.tar.gz), - for standard output; without it a file in this folder',
    )
    .option('--json', 'print one JSON object about the bundle')
    .addHelpText(
      'after',
      '\nExamples:\n  residency audit export --zone eu --from -7d\n  residency audit export --zone eu --from 2026-01-01 --to 2026-04-01 --out q1.tar.gz\n  residency audit export --zone eu --from 2026-03-01 --tenant acme --out - > acme.tar.gz',
    )
    .action(exported);

async function exported(options: ExportOptions): Promise<void> {
  const { tenant, out, json } = options;
  if (tenant !== undefined && !TENANT_ID.test(tenant)) throw new UsageFault('--tenant takes a tenant id');
  if (out === '-' && json) throw new UsageFault('standard output takes the bundle or --json, not both');
  const now = Date.now();
  const span = spanBetween(options, now);
  if (out !== undefined && out !== '-') assertNew(out);
  const log = await adminLog(await oneOrigin(options, tenant));
  const window = await windowOf(log, span, log.longestCallMs);
  if (window === undefined) throw new UsageFault(`the time from ${span.from} on has not come yet`);
  const file = out ?? nameOf(log, window, tenant);
  if (file !== '-') assertNew(file);
  const fill = (destination: Writable) =>
    writeBundle(
      log,
      window,
      { destination, folder: file === '-' ? tmpdir() : dirname(file) },
      { createdAt: new Date(now).toISOString(), progress, ...(tenant !== undefined && { tenant }) },
    );
  const written = await (file === '-' ? fill(process.stdout) : writeWhole(file, fill));
  if (written.unlike + written.unkept.length > 0) process.exitCode = FAULTY;
  if (json) process.stdout.write(`${JSON.stringify(aboutOf(file, window, written))}\n`);
  else process.stderr.write(wordsOf(file, log, window, written));
}

/** `eu-2026-03-01T00-00-00Z-2026-03-08T00-00-00Z.tar.gz`: plain on every file system. */
function nameOf({ jurisdiction }: AdminLog, { from, to }: Window, tenant: string | undefined): string {
  const [begin, end] = [from, to].map((at) => at.replace(/\.\d+Z$/, 'Z').replaceAll(':', '-'));
  return `${[jurisdiction, ...(tenant === undefined ? [] : [tenant]), begin, end].join('-')}.tar.gz`;
}

function progress(done: number, all: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${all} records${done === all ? '\n' : ''}`);
}

function aboutOf(file: string, { witnessed, checkpoints }: Window, written: Collected): object {
  const { files: _, ...manifest } = written.manifest;
  const { pruned, unlike, unkept } = written;
  return { file, ...manifest, checkpoints: checkpoints.length, witnessed, pruned, unlike, unkept };
}

function wordsOf(file: string, log: AdminLog, window: Window, written: Collected): string {
  const { manifest, pruned, unlike, unkept } = written;
  const { records, receipts, tenant } = manifest;
  const whose = tenant === undefined ? '' : ` of the tenant ${tenant}`;
  const lines = [
    `${file === '-' ? 'The bundle' : file}: ${records} records${whose}, ${receipts} receipts, ${window.checkpoints.length} checkpoints of ${log.log}`,
    `from ${window.from} to ${window.to}.`,
    ...(records === 0 ? [`Nothing${whose} was recorded in this time, which the bundle shows.`] : []),
    ...(pruned === 0 ? [] : [`${pruned} places have lost their record after its time.`]),
    ...(window.witnessed ? [] : ['Witnesses have not cosigned it yet: export it again in a minute.']),
    ...(unlike === 0
      ? []
      : [`${unlike} records are not what the log has signed: see "${typedCommand('audit', 'fsck')}".`]),
    ...unkept.map((policy) => `The policy ${policy}, which records cite, is not kept by this origin.`),
    ...(file === '-' ? [] : [`Verify it with: ${typedCommand('verify', file, '--pubkey', 'FILE')}`]),
  ];
  return `${lines.join('\n')}\n`;
}
