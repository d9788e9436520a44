import { Command } from 'commander';
import { type AdminOptions, oneOrigin, withAdminOptions } from './admin-client.ts';
import { type LineSink, openSink } from './line-sink.ts';
import { WrongCursor } from './stream-cursor.ts';
import { forward } from './stream-page.ts';

/** How often `--follow` asks for more, and how long it waits where the origin is away, in ms. */
const FOLLOW_MS = 1_000;
const AWAY_MS = 3_000;

interface StreamOptions extends AdminOptions {
  readonly out: string;
  readonly cursor: string;
  readonly follow?: boolean;
}

/** `residency audit stream`: the records on their way into an archive of one's own. */
export const streamCommand = (): Command =>
  withAdminOptions(new Command('stream'))
    .description(
      'Writes the records of one zone as JSON lines, in the order of the log, from where the cursor stands. Each comes at least once: after a crash the last ones may come again, with the same ids. A place whose record was pruned is {"leaf":…,"pruned":true}.',
    )
    .option('--out <file>', 'a file that is added to, or - for standard output', '-')
    .requiredOption('--cursor <file>', 'keeps how far it has come; made where it is missing')
    .option('-f, --follow', 'go on with new records as they come, also after the origin was away')
    .addHelpText(
      'after',
      '\nExample:\n  residency audit stream --zone eu --follow --out archive.jsonl --cursor archive.cursor',
    )
    .action(stream);

async function stream(options: StreamOptions): Promise<void> {
  // A wrong use is told at once, also where the origin may come back.
  const origin = await oneOrigin(options);
  const sink = await openSink(options.out);
  try {
    if (options.follow) await follow(options, sink);
    else while ((await forward(origin, options.cursor, sink)) > 0);
  } finally {
    await sink.close();
  }
}

/** Goes on until the process is ended, which it may be at any moment. */
async function follow(options: StreamOptions, sink: LineSink): Promise<never> {
  let isAway = false;
  for (;;) {
    try {
      const moved = await forward(await oneOrigin(options), options.cursor, sink);
      if (isAway) process.stderr.write('The origin is back.\n');
      isAway = false;
      if (moved === 0) await rest(FOLLOW_MS);
    } catch (cause) {
      if (sink.failed || cause instanceof WrongCursor) throw cause;
      if (!isAway)
        process.stderr.write(`${cause instanceof Error ? cause.message : 'failed'}; it is tried again\n`);
      isAway = true;
      await rest(AWAY_MS);
    }
  }
}

const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
