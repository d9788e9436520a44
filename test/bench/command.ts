import { Argument, Command, InvalidArgumentError } from 'commander';
import { decimal } from '../../shared/base64.ts';
import type { Scale, Scenario } from './scenario.ts';

/** What a person asked for. */
export interface Asked {
  readonly scenarios: readonly Scenario[];
  readonly scale: Scale;
  readonly rounds: number;
  readonly json: boolean;
}

const ROUNDS = { quick: 3, full: 7 };
const ROUNDS_MAX = 1_000;

/** Throws CommanderError where it was used wrongly, or help was asked for. */
export function parseAsked(args: readonly string[], all: readonly Scenario[]): Asked {
  const command = new Command('bench')
    .description('Measures this program on this machine, part by part, beside something to compare it to.')
    .addArgument(
      new Argument('[scenario...]', 'all of them if none is named').choices(all.map(({ name }) => name)),
    )
    .option('--quick', 'about a minute in all: to see that it runs, not to go by')
    .option('--rounds <n>', `rounds that count (${ROUNDS.full}, or ${ROUNDS.quick} with --quick)`, roundsOf)
    .option('--json', 'for programs, with the values of each round')
    .addHelpText(
      'after',
      `\nScenarios:\n${all.map(({ name, measures }) => `  ${name}: ${measures}\n`).join('')}`,
    )
    .exitOverride()
    .parse(args, { from: 'user' });
  const { quick = false, rounds, json = false } = command.opts<Options>();
  const named = new Set(command.args);
  const scale = quick ? 'quick' : 'full';
  return {
    scenarios: all.filter(({ name }) => named.size === 0 || named.has(name)),
    scale,
    rounds: rounds ?? ROUNDS[scale],
    json,
  };
}

interface Options {
  readonly quick?: boolean;
  readonly rounds?: number;
  readonly json?: boolean;
}

function roundsOf(text: string): number {
  const rounds = decimal(text);
  if (rounds === undefined || rounds < 1 || rounds > ROUNDS_MAX) {
    throw new InvalidArgumentError(`It is no number from 1 to ${ROUNDS_MAX}.`);
  }
  return rounds;
}
