import { createPublicKey } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import type { CheckpointKeys } from '../../shared/open-checkpoint.ts';
import { checkpointKeys, parseTrustedKeys, type TrustedKey } from '../../shared/verify/trust.ts';
import { type FsckReport, fsck } from '../audit/fsck.ts';
import { FSCK_FAULTS, type ListedFault } from '../audit/fsck-faults.ts';
import { headFile } from '../audit/signed-head.ts';
import { readBounded } from '../config/bounded-file.ts';
import { type LogPlace, readLogPlace } from '../config/log-place.ts';
import { openSqliteReader } from '../store/sqlite.ts';
import { StoreError } from '../store/store.ts';
import { UsageFault } from '../usage-fault.ts';

/** How often it says how far it is, in ms. */
const SAY_MS = 5_000;

interface FsckOptions {
  readonly config?: string;
  readonly data: string;
  readonly zone?: string;
  readonly pubkey: readonly string[];
  readonly json?: boolean;
}

const several = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** `residency audit fsck`: whether a log is whole. */
export const fsckCommand = (): Command =>
  new Command('fsck')
    .description(
      'Builds the log anew from the records in the database and compares it with every checkpoint ever signed, and with all that is kept beside. It writes nothing, and works beside a running origin or on a copy. Exit 0: whole. 1: something is not, and is listed. 2: it cannot be read.',
    )
    .option('--config <file>', 'configuration of the origin whose log it is')
    .option('--data <dir>', 'without --config: folder of the local stack', 'data')
    .option('--zone <zone>', 'which log of the local stack')
    .option(
      '--pubkey <file>',
      'earlier public keys of the log (JWK Set, JWK, vkeys); may be repeated',
      several,
      [],
    )
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  residency audit fsck --zone eu\n  residency audit fsck --config origin.yaml --json',
    )
    .action(async (options: FsckOptions) => {
      const place = placeOf(options.config ?? (await localConfig(options)));
      const report = await checked(place, keysOf(place, options.pubkey));
      if (!report.ok) process.exitCode = 1;
      process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : textOf(report));
    });

function placeOf(config: string): LogPlace {
  const place = readLogPlace(config);
  if (place.ok) return place.value;
  throw new UsageFault(place.error.map(({ path, message }) => `${path}: ${message}`).join('\n'));
}

async function localConfig({ data, zone }: FsckOptions): Promise<string> {
  const folder = join(data, 'origins');
  const found = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.yaml')).sort();
  const [first, ...others] = found.filter((name) => zone === undefined || name === `${zone}.yaml`);
  if (first === undefined)
    throw new UsageFault(
      `there is no log of the local stack in ${data}: name the configuration with --config`,
    );
  if (others.length === 0) return join(folder, first);
  const zones = found.map((name) => name.replace(/\.yaml$/, ''));
  throw new UsageFault(`each zone has a log of its own: name one with --zone (${zones.join(', ')})`);
}

/** Keys that a rotation has retired signed checkpoints too, in their time. */
function keysOf({ logName, privateKey, witnesses }: LogPlace, files: readonly string[]): CheckpointKeys {
  const keys: TrustedKey[] = privateKey === undefined ? [] : [{ publicKey: createPublicKey(privateKey) }];
  for (const file of files) {
    const bytes = readBounded(file);
    const read = bytes.ok ? parseTrustedKeys(bytes.value.toString('utf8')) : bytes;
    if (!read.ok) throw new UsageFault(`${file} ${read.error}`);
    keys.push(...read.value);
  }
  if (keys.length > 0) return checkpointKeys({ keys, witnesses, quorum: 0 }, logName);
  throw new UsageFault('the signing key of the log cannot be read: name its public key with --pubkey');
}

async function checked({ file, zone, logName }: LogPlace, keys: CheckpointKeys): Promise<FsckReport> {
  const log = await openSqliteReader({ path: file, zone }).catch((cause: Error) => {
    throw cause instanceof StoreError && cause.kind === 'unfit' ? new UsageFault(cause.message) : cause;
  });
  let said = Date.now();
  const onProgress = (looked: number, of: number) => {
    if (Date.now() - said < SAY_MS) return;
    said = Date.now();
    process.stderr.write(`checked ${looked} of ${of} records\n`);
  };
  try {
    return await fsck({ log, head: headFile(`${file}.checkpoint`), logName, keys, onProgress });
  } finally {
    await log.close();
  }
}

function textOf({
  log,
  records,
  pruned,
  checkpoints,
  open_calls,
  faults,
  more_faults,
  ok,
}: FsckReport): string {
  const counts = `${log}: ${records} records (${pruned} pruned, ${open_calls} calls without an end), ${checkpoints} checkpoints.`;
  if (ok) return `${counts}\nThe log is whole.\n`;
  const kinds = [...new Set(faults.map(({ fault }) => fault))];
  return [
    counts,
    ...faults.map(line),
    ...(more_faults > 0 ? [`and ${more_faults} more`] : []),
    '',
    ...kinds.flatMap((kind) => [`${kind}: ${FSCK_FAULTS[kind].means}.`, `  ${FSCK_FAULTS[kind].todo}`]),
    '',
  ].join('\n');
}

const line = ({ fault, place, record, checkpoint, reason }: ListedFault): string =>
  [
    fault.padEnd(10),
    ...(place === undefined ? [] : [`place ${place}`]),
    ...(record === undefined ? [] : [`record ${record}`]),
    ...(checkpoint === undefined ? [] : [`checkpoint ${checkpoint}`]),
    reason,
  ].join('  ');
