import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { type Asked, parseAsked } from './command.ts';
import { machineLine, thisMachine } from './machine.ts';
import { measure } from './rounds.ts';
import { SCENARIOS } from './scenarios.ts';
import { type Row, summarize } from './summary.ts';
import { table } from './table.ts';

interface Result {
  readonly name: string;
  readonly measures: string;
  readonly rows: readonly Row[];
}

async function run({ scenarios, scale, rounds, json }: Asked): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'residency-bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  // A log of a million records is not to be left behind by who has seen enough.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

  const machine = thisMachine();
  if (!json) process.stdout.write(`${machineLine(machine)}; ${scale}, ${rounds} rounds\n\n`);
  const results: Result[] = [];
  for (const scenario of scenarios) {
    const { name, measures } = scenario;
    process.stderr.write(`${name} …\n`);
    const own = await mkdtemp(join(folder, `${name}-`));
    const rows = summarize(scenario, await measure(scenario, { scale, rounds, warmUp: 1, folder: own }));
    results.push({ name, measures, rows });
    if (!json) process.stdout.write(`${table(scenario, rows)}\n`);
    rmSync(own, { recursive: true });
  }
  if (json)
    process.stdout.write(`${JSON.stringify({ machine, scale, rounds, scenarios: results }, null, 2)}\n`);
}

try {
  await run(parseAsked(process.argv.slice(2), SCENARIOS));
} catch (cause) {
  if (cause instanceof CommanderError) process.exitCode = cause.exitCode === 0 ? 0 : 2;
  else {
    process.stderr.write(`bench: ${cause instanceof Error ? cause.message : 'failed'}\n`);
    process.exitCode = 1;
  }
}
