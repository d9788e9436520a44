import { tableText } from '../../origin/cli/table.ts';
import type { Scenario } from './scenario.ts';
import type { Row } from './summary.ts';

const HEADING = ['', 'figure', 'median', 'range', 'unit', 'ratio', 'added'];

/** The figures of one scenario as a person reads them. */
export function table({ name, measures }: Pick<Scenario, 'name' | 'measures'>, rows: readonly Row[]): string {
  const lines = tableText(HEADING, rows.map(cells)).trimEnd().split('\n');
  return [`${name}: ${measures}`, '', ...lines.map((line) => `  ${line}`), ''].join('\n');
}

const cells = ({ subject, figure, unit, median, min, max, ratio, added }: Row): string[] => [
  subject,
  figure,
  shown(median),
  `${shown(min)} – ${shown(max)}`,
  unit,
  ratio === undefined ? '1' : shown(ratio),
  added === undefined ? '' : `${added < 0 ? '' : '+'}${shown(added)}`,
];

/** Three digits say more than such a measurement knows. */
const shown = (value: number): string => {
  const digits = Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
  return digits.toLocaleString('en-US', { maximumSignificantDigits: 6 });
};
