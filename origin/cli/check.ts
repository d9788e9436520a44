import { Command } from 'commander';
import { type Checked, checkConfig, type Fault } from '../config.ts';
import { type MatrixRow, matrix } from '../policy/matrix.ts';
import { rowJson } from '../policy/matrix-json.ts';
import { matrixText } from '../policy/matrix-text.ts';

/** Exit codes: the configuration can be used but a person must look at it, and it cannot be used. */
const PROBLEMS = 1;
const UNUSABLE = 2;

/** `residency check`: whether a configuration can be used, and who may be served where by it. */
export const command = (): Command =>
  new Command('check')
    .description(
      'Checks the configuration of an origin with its policies, registry and tenants, and prints for each workload who is served where, in which order. It takes no keys: what is missing on this machine for a start is listed apart. Exit 0: nothing to mend, though there may be warnings. 1: usable, with problems. 2: unusable.',
    )
    .requiredOption('--config <file>', 'configuration of this origin (YAML)')
    .option('--json', 'print one JSON object')
    .exitOverride()
    .action(({ config: file, json }: { config: string; json?: boolean }) => {
      const checked = checkConfig(file, process.env);
      const rows = checked.whole === undefined ? [] : matrix(checked.whole);
      if (checked.faults.length > 0) process.exitCode = UNUSABLE;
      else if (checked.problems.length > 0) process.exitCode = PROBLEMS;
      if (json === true) printJson(checked, rows);
      else printText(checked, rows);
    });

function printJson({ faults, needed, problems, warnings }: Checked, rows: readonly MatrixRow[]): void {
  const ok = faults.length === 0 && problems.length === 0;
  const missing = needed.map(({ path, message }) => ({ path, message }));
  const told = { ok, faults, problems, warnings, needed: missing, matrix: rows.map(rowJson) };
  process.stdout.write(`${JSON.stringify(told)}\n`);
}

/** Who is served where goes to standard output, and what a person should do about it to the other one. */
function printText({ faults, needed, problems, warnings }: Checked, rows: readonly MatrixRow[]): void {
  if (rows.length > 0)
    process.stdout.write(
      `${faults.length > 0 ? 'Of the parts without a fault:\n\n' : ''}${matrixText(rows)}`,
    );
  tell(warnings.map((one) => `warning: ${line(one)}`));
  tell([...problems.map(line), `${count(problems, 'problem')} to mend.`], problems.length > 0);
  tell(
    [...faults.map(line), `The configuration cannot be used: ${count(faults, 'fault')}.`],
    faults.length > 0,
  );
  if (problems.length + faults.length === 0) process.stdout.write('\nNothing to mend.\n');
  tell(
    [
      'Needed to start and missing here (the local stack makes keys and the admin token itself):',
      ...needed.map(line),
    ],
    needed.length > 0,
  );
}

function tell(lines: readonly string[], isCause = lines.length > 0): void {
  if (isCause) process.stderr.write(`\n${lines.join('\n')}\n`);
}

const line = ({ path, message }: Fault): string => `${path}: ${message}`;

const count = (list: readonly unknown[], noun: string): string =>
  `${list.length} ${noun}${list.length === 1 ? '' : 's'}`;
