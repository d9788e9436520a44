import type { Measured } from './rounds.ts';
import type { Scenario } from './scenario.ts';

/** One figure of one subject over all rounds. */
export interface Row {
  readonly subject: string;
  readonly figure: string;
  readonly unit: string;
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** In the order of the rounds. */
  readonly values: readonly number[];
  /** Against the base in the same round, medians: how many times as much, and how much more. Not for the base. */
  readonly ratio?: number;
  readonly added?: number;
}

/** Throws where a subject did not give a number for each figure in each round. */
export function summarize({ figures }: Pick<Scenario, 'figures'>, measured: Measured): Row[] {
  const [base] = measured.keys();
  const valuesOf = (subject: string, figure: string): number[] =>
    (measured.get(subject) ?? []).map((round) => numberOf(round[figure], `${subject}: ${figure}`));
  return [...measured.keys()].flatMap((subject) =>
    figures.map(({ name, unit }) => {
      const values = valuesOf(subject, name);
      const spread = { median: median(values), min: Math.min(...values), max: Math.max(...values), values };
      const row = { subject, figure: name, unit, ...spread };
      return subject === base ? row : { ...row, ...against(values, valuesOf(base ?? '', name)) };
    }),
  );
}

/** Round by round, as two subjects of one round had the same machine and two medians perhaps did not. */
function against(values: readonly number[], base: readonly number[]): Pick<Row, 'ratio' | 'added'> {
  const pairs = values.map((value, round) => ({ value, base: numberOf(base[round], 'the base') }));
  return {
    ratio: median(pairs.map((pair) => pair.value / pair.base)),
    added: median(pairs.map((pair) => pair.value - pair.base)),
  };
}

function numberOf(value: number | undefined, what: string): number {
  if (value === undefined || !Number.isFinite(value)) throw new Error(`a round gave no number for ${what}`);
  return value;
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return (at(sorted, Math.floor(middle)) + at(sorted, Math.ceil(middle))) / 2;
};

/** The smallest value that this share of all values does not exceed (nearest rank). @param share 0 to 1 */
export const percentile = (values: readonly number[], share: number): number =>
  at(
    values.toSorted((one, other) => one - other),
    Math.max(Math.ceil(share * values.length) - 1, 0),
  );

const at = (sorted: readonly number[], place: number): number => sorted[place] ?? Number.NaN;
