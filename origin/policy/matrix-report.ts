import { cloudRegion } from '../../shared/catalogue.ts';
import { packLabel } from '../../shared/pack.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { MatrixRow, Subject } from './matrix.ts';

/** One row of the matrix as programs read it. */
export const rowJson = ({ policy, subject, allowed, ...row }: MatrixRow) => ({
  jurisdiction: row.jurisdiction,
  policy: policy.label,
  packs: policy.packs.map(packLabel),
  workload: row.workload,
  api: row.api,
  tenant: subject.tenant ?? null,
  team: subject.team?.name ?? null,
  unpinned: row.unpinned ?? null,
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
    const next = headingOf(row);
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

function headingOf({ jurisdiction, policy: { label, packs, retentionDays } }: MatrixRow): string {
  const bundled = packs.length === 0 ? '' : `, packs ${packs.map(packLabel).join(', ')}`;
  const kept = retentionDays === undefined ? 'for ever' : `for ${retentionDays} days at least`;
  return `Jurisdiction ${jurisdiction}, policy ${label}${bundled}, records kept ${kept}`;
}

const titleOf = ({ workload, api }: MatrixRow): string => `${workload} (${api} API)`;

function subjectText({ tenant, team }: Subject): string {
  if (tenant === undefined) return 'every tenant';
  return team === undefined ? `tenant ${tenant}` : `tenant ${tenant}, team ${team.name}`;
}

function servedLines({ jurisdiction, unpinned, allowed, rejected, refusal }: MatrixRow): string[] {
  return [
    ...(unpinned === undefined ? [] : [`NOT PINNED TO ${jurisdiction}: ${unpinned}`.toUpperCase()]),
    ...(refusal === undefined ? [] : [`REFUSED, always: ${refusal}`]),
    ...allowed.map(({ endpoint }, index) => `${index + 1}. ${endpoint.id}: ${placeText(endpoint)}`),
    ...rejected.map(({ endpoint, rejected: why }) => `never ${endpoint}: ${why}`),
  ];
}

function placeText({ region, country, deployment, zone }: Endpoint): string {
  if (deployment === 'global') return 'anywhere in the world (deployment global)';
  if (deployment === 'zone') return `anywhere in ${zone ?? 'an unknown zone'} (deployment zone)`;
  const city = region === undefined ? undefined : cloudRegion(region)?.city;
  return [region, city, country].filter((part) => part !== undefined).join(', ');
}
