import { Command } from 'commander';
import { type Fault, loadConfig, type OriginConfig } from '../config.ts';
import { matrix } from '../policy/matrix.ts';
import { matrixText, rowJson } from '../policy/matrix-report.ts';

/** Exit codes: the configuration loads but a person must look at it, and it cannot be used. */
const PROBLEMS = 1;
const UNUSABLE = 2;

/** `residency check`: whether a configuration can be used, and who may be served where by it. */
export const command = (): Command =>
  new Command('check')
    .description(
      'Checks the configuration of an origin with its policies, registry and tenants, and prints for each workload who is served where, in which order. Exit 0: nothing to mend, though there may be warnings. 1: usable, with problems. 2: unusable.',
    )
    .requiredOption('--config <file>', 'configuration of this origin (YAML)')
    .option('--json', 'print one JSON object')
    .exitOverride()
    .action(({ config: file, json }: { config: string; json?: boolean }) => {
      const loaded = loadConfig(file, process.env);
      if (loaded.ok) checked(loaded.value, json === true);
      else unusable(loaded.error, json === true);
    });

function unusable(faults: readonly Fault[], json: boolean): void {
  process.exitCode = UNUSABLE;
  if (json) {
    print({ ok: false, faults, problems: [], warnings: [], matrix: [] });
    return;
  }
  const end = `The configuration cannot be used: ${count(faults, 'fault')}.`;
  process.stderr.write(`${faults.map(line).join('')}${end}\n`);
}

function checked(config: OriginConfig, json: boolean): void {
  const { problems, warnings } = config;
  const rows = matrix(config);
  if (problems.length > 0) process.exitCode = PROBLEMS;
  if (json) {
    print({ ok: problems.length === 0, faults: [], problems, warnings, matrix: rows.map(rowJson) });
    return;
  }
  process.stdout.write(matrixText(rows));
  if (warnings.length > 0)
    process.stderr.write(`\n${warnings.map((one) => `warning: ${line(one)}`).join('')}`);
  if (problems.length === 0) process.stdout.write('\nNothing to mend.\n');
  else process.stderr.write(`\n${problems.map(line).join('')}${count(problems, 'problem')} to mend.\n`);
}

const line = ({ path, message }: Fault): string => `${path}: ${message}\n`;

const count = (list: readonly unknown[], noun: string): string =>
  `${list.length} ${noun}${list.length === 1 ? '' : 's'}`;

const print = (value: object): void => {
  process.stdout.write(`${JSON.stringify(value)}\n`);
};
