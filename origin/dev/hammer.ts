import { Command } from 'commander';
import { UsageFault } from '../usage-fault.ts';
import { hammer } from './hammer/run.ts';
import { findTarget } from './hammer/target.ts';

interface Options {
  readonly seconds: string;
  readonly calls?: string;
  readonly clients: string;
  readonly zone?: string;
  readonly data: string;
}

/** Exit codes: a fault was found, and used wrongly. */
const FAULTY = 1;
const WRONG_USE = 2;

function count(option: string, text: string, most: number): number {
  if (/^[1-9]\d{0,6}$/.test(text) && Number(text) <= most) return Number(text);
  throw new UsageFault(`${option} takes 1 to ${most}`);
}

async function run({ seconds, calls, clients, zone, data }: Options): Promise<void> {
  const limit = count('--seconds', seconds, 86_400) * 1_000;
  const most = calls === undefined ? Number.POSITIVE_INFINITY : count('--calls', calls, 1_000_000);
  const many = count('--clients', clients, 256);
  const target = await findTarget(data, zone);
  const begin = Date.now();
  const goOn = (begun: number) => begun < most && Date.now() - begin < limit;
  const tally = await hammer(target, { clients: many, goOn });
  process.stdout.write(tally.text((Date.now() - begin) / 1_000));
  if (!tally.ok) process.exitCode = FAULTY;
}

const command = new Command('hammer')
  .description(
    'Calls one zone of the stack that runs here from many sides at once, and meanwhile checks every receipt, proof and checkpoint that it gives. Exit 1 where anything is wrong.',
  )
  .option('--seconds <count>', 'how long', '30')
  .option('--calls <count>', 'end after so many calls')
  .option('--clients <count>', 'callers at once', '8')
  .option('--zone <zone>', 'which zone; else the first whose tenant has a key')
  .option('--data <dir>', 'folder of the local stack', 'data')
  .action(run);

try {
  await command.parseAsync();
} catch (cause) {
  process.stderr.write(`hammer: ${cause instanceof Error ? cause.message : 'failed'}\n`);
  process.exitCode = cause instanceof UsageFault ? WRONG_USE : FAULTY;
}
