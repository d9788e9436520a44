import { cloudRegion } from '../../shared/catalogue.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { MatrixRow, Subject } from './matrix.ts';

/** One row of the matrix as programs read it. */
export const rowJson = ({ policy, subject, allowed, ...row }: MatrixRow) => ({
  jurisdiction: row.jurisdiction,
  policy: policy.label,
  workload: row.workload,
  api: row.api,
  tenant: subject.tenant ?? null,
  team: subject.team?.name ?? null,
  allowed: allowed.map(({ endpoint, model }) => ({
    endpoint: endpoint.id,
    region: endpoint.region ?? null,
    country: endpoint.country ?? null,
    deployment: endpoint.deployment,
    model,
  })),
  rejected: row.rejected,
  refusal: row.refusal ?? null,
});

/** The matrix as a table for a reader who is no engineer: who, for what, is served where, in which order. */
export function matrixText(rows: readonly MatrixRow[]): string {
  const lines: string[] = [];
  const widest = (texts: readonly string[]) => Math.max(0, ...texts.map(({ length }) => length));
  const workloadWidth = widest(rows.map(titleOf));
  const subjectWidth = widest(rows.map(({ subject }) => subjectText(subject)));
  let heading = '';
  let title = '';
  for (const row of rows) {
    const next = `Jurisdiction ${row.jurisdiction}, policy ${row.policy.label}`;
    if (next !== heading) {
      lines.push(...(heading === '' ? [] : ['']), next);
      heading = next;
      title = '';
    }
    const shown = titleOf(row) === title ? '' : titleOf(row);
    title = titleOf(row);
    const cells = [shown.padEnd(workloadWidth), subjectText(row.subject).padEnd(subjectWidth)];
    for (const [index, served] of servedLines(row).entries()) {
      const left = index === 0 ? cells : cells.map(({ length }) => ' '.repeat(length));
      lines.push(`  ${[...left, served].join('  ')}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

const titleOf = ({ workload, api }: MatrixRow): string => `${workload} (${api} API)`;

function subjectText({ tenant, team }: Subject): string {
  if (tenant === undefined) return 'every tenant';
  return team === undefined ? `tenant ${tenant}` : `tenant ${tenant}, team ${team.name}`;
}

function servedLines({ allowed, rejected, refusal }: MatrixRow): string[] {
  return [
    ...(refusal === undefined ? [] : [`REFUSED, always: ${refusal}`]),
    ...allowed.map(({ endpoint }, index) => `${index + 1}. ${endpoint.id}: ${placeText(endpoint)}`),
    ...rejected.map(({ endpoint, rejected: why }) => `never ${endpoint}: ${why}`),
  ];
}

function placeText({ region, country, deployment, zone }: Endpoint): string {
  if (deployment !== 'regional') return `anywhere in ${zone ?? 'an unknown zone'} (deployment ${deployment})`;
  const city = region === undefined ? undefined : cloudRegion(region)?.city;
  return [region, city, country].filter((part) => part !== undefined).join(', ');
}
