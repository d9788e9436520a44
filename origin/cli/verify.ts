import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { Command } from 'commander';
import type { Result } from '../../shared/result.ts';
import type { Report } from '../../shared/verify/report.ts';
import { verifyAnswer, verifyProof, verifyReceipt } from '../../shared/verify/single.ts';
import { parseTrustedKeys, parseWitnesses, type Trust } from '../../shared/verify/trust.ts';
import { verifyBundle } from '../../shared/verify/verify.ts';
import { readBounded } from '../config/bounded-file.ts';
import { UsageFault } from '../usage-fault.ts';
import { unpack } from './unpack.ts';
import { reportText } from './verify-text.ts';

/** Exit code: something is not proven. */
const NOT_PROVEN = 1;

/** Largest text that is taken from standard input beside bundles, in bytes: an answer with a hundred records. */
const TEXT_BYTES = 16 * 1024 * 1024;

interface VerifyOptions {
  readonly pubkey: string;
  readonly witness: readonly string[];
  readonly quorum?: string;
  readonly checkpoint?: string;
  readonly log?: string;
  readonly record?: string;
  readonly strict?: boolean;
  readonly json?: boolean;
}

const several = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** `residency verify`: what a bundle, a receipt or a proof proves, with nothing but a public key. */
export const command = (): Command =>
  new Command('verify')
    .description(
      'Verifies a bundle, or from standard input (-) a bundle, a receipt, an answer of /v1/receipts/<request-id> or a tlog-proof. Asks no server and writes nothing. Exit 0: all proven. 1: something is not. 2: the input cannot be used.',
    )
    .argument('<bundle>', 'the file, or - for standard input')
    .requiredOption('--pubkey <file>', 'public keys of the log: JWK Set, JWK, or one C2SP vkey a line')
    .option('--witness <file>', 'vkeys of witnesses that must have cosigned; may be repeated', several, [])
    .option('--quorum <count>', 'how many of the witnesses must have cosigned (default: all)')
    .option('--checkpoint <file>', 'a checkpoint from an earlier day, which the log must continue')
    .option('--log <name>', 'the name that the log must have')
    .option('--record <file>', 'the record that a tlog-proof is about')
    .option('--strict', 'also fail on what is proven and should not have been: see the kinds of faults')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  residency verify week-9.tar.gz --pubkey eu.jwks.json --strict\n  residency verify - --pubkey eu.jwks.json < receipt.txt',
    )
    .action(async (file: string, options: VerifyOptions) => {
      const report = await verified(file, trustOf(options), options);
      if (!report.ok) process.exitCode = NOT_PROVEN;
      process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : reportText(report));
    });

function trustOf({ pubkey, witness, quorum, checkpoint, log }: VerifyOptions): Trust {
  const witnesses = witness.flatMap((file) => usable(file, parseWitnesses(read(file))));
  const count = quorum === undefined ? witnesses.length : Number(quorum);
  if (!/^\d{1,3}$/.test(quorum ?? '0') || count > witnesses.length) {
    throw new UsageFault('--quorum takes a number, no larger than that of the witnesses');
  }
  return {
    keys: usable(pubkey, parseTrustedKeys(read(pubkey))),
    witnesses,
    quorum: count,
    ...(log !== undefined && { log }),
    ...(checkpoint !== undefined && { held: read(checkpoint) }),
  };
}

async function verified(
  file: string,
  trust: Trust,
  { strict = false, record }: VerifyOptions,
): Promise<Report> {
  const { start, rest } = await opened(file);
  if (start[0] === 0x1f && start[1] === 0x8b) {
    const files = usable(file, await unpack(rest));
    return verifyBundle(files, trust, { strict });
  }
  const text = (await bytesOf(rest)).toString('utf8');
  if (text.startsWith('c2sp.org/tlog-proof@')) {
    return verifyProof(text, trust, record === undefined ? undefined : read(record));
  }
  if (text.trimStart().startsWith('{')) return verifyAnswer(text, trust);
  if (/^[\w-]+\.[\w-]+\.[\w-]+\s*$/.test(text)) return verifyReceipt(text, trust);
  throw new UsageFault(`${file} is no bundle (.tar.gz), receipt, answer of /v1/receipts or tlog-proof`);
}

/** The first bytes of the input, and all of it as a stream. */
async function opened(file: string): Promise<{ readonly start: Buffer; readonly rest: Readable }> {
  const stream: Readable = file === '-' ? process.stdin : createReadStream(file);
  const chunks = stream[Symbol.asyncIterator]();
  try {
    const first = await chunks.next();
    const start: Buffer = first.done ? Buffer.alloc(0) : first.value;
    return { start, rest: Readable.from(from(start, chunks)) };
  } catch {
    throw new UsageFault(`${file} cannot be read`);
  }
}

async function* from(start: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield start;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
}

async function bytesOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of stream) {
    total += chunk.length;
    if (total > TEXT_BYTES) throw new UsageFault(`the input is larger than ${TEXT_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function read(file: string): string {
  const bytes = readBounded(file);
  if (!bytes.ok) throw new UsageFault(`${file} ${bytes.error}`);
  return bytes.value.toString('utf8');
}

function usable<T>(file: string, result: Result<T, string>): T {
  if (!result.ok) throw new UsageFault(`${file} ${result.error}`);
  return result.value;
}
