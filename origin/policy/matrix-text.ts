import { cloudRegion } from '../../shared/catalogue.ts';
import type { RejectedCandidate } from '../../shared/errors.ts';
import { packLabel } from '../../shared/pack.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { LoadedPolicy } from './document.ts';
import type { MatrixRow } from './matrix.ts';
import type { Candidate } from './resolve.ts';

/** The matrix as a table for a reader who is no engineer: who, for what, is served where, in which order. */
export function matrixText(rows: readonly MatrixRow[]): string {
  const lines: string[] = [];
  const everyone = everyoneIn(rows);
  const widest = (texts: readonly string[]) => texts.reduce((most, { length }) => Math.max(most, length), 0);
  const workloadWidth = widest(rows.map(titleOf));
  const subjectWidth = widest(rows.map((row) => subjectText(row, everyone)));
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
    const cells = [shown.padEnd(workloadWidth), subjectText(row, everyone).padEnd(subjectWidth)];
    for (const [index, served] of servedLines(row, everyone).entries()) {
      const left = index === 0 ? cells : cells.map(({ length }) => ' '.repeat(length));
      lines.push(`  ${[...left, served].join('  ')}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** What narrower rows are compared with. */
interface Everyone {
  /** By policy, whom its widest rows speak of. */
  readonly names: ReadonlyMap<LoadedPolicy, string>;
  /** What those rows say of endpoints that never serve, by row and endpoint. */
  readonly never: ReadonlyMap<string, string>;
}

function everyoneIn(rows: readonly MatrixRow[]): Everyone {
  const names = new Map<LoadedPolicy, string>();
  const never = new Map<string, string>();
  for (const row of rows) {
    const { policy, subject, rejected } = row;
    if (subject.team !== undefined) names.set(policy, 'every other tenant and team');
    else if (subject.tenant !== undefined && !names.has(policy)) names.set(policy, 'every other tenant');
    if (subject.tenant !== undefined) continue;
    for (const { endpoint, rejected: why } of rejected) never.set(neverKey(row, endpoint), why);
  }
  return { names, never };
}

const neverKey = ({ policy, workload, api }: MatrixRow, endpoint: string): string =>
  [policy.label, workload, api, endpoint].join(' ');

function headingOf({ jurisdiction, policy: { label, packs, retentionDays } }: MatrixRow): string {
  const bundled = packs.length === 0 ? '' : `, packs ${packs.map(packLabel).join(', ')}`;
  const kept = retentionDays === undefined ? 'for ever' : `for ${retentionDays} days at least`;
  return `Jurisdiction ${jurisdiction}, policy ${label}${bundled}, records kept ${kept}`;
}

const titleOf = ({ workload, api }: MatrixRow): string => `${workload} (${api} API)`;

function subjectText({ policy, subject: { tenant, team } }: MatrixRow, { names }: Everyone): string {
  if (team !== undefined) return `tenant ${tenant}, team ${team.name}`;
  return tenant === undefined ? (names.get(policy) ?? 'every tenant') : `tenant ${tenant}`;
}

function servedLines(row: MatrixRow, { never }: Everyone): string[] {
  const { jurisdiction, subject, unpinned, allowed, rejected, refusal } = row;
  // What keeps an endpoint from everyone is told once.
  const isTold = (one: RejectedCandidate) =>
    subject.tenant !== undefined && never.get(neverKey(row, one.endpoint)) === one.rejected;
  return [
    ...(unpinned === undefined ? [] : [`NOT PINNED TO ${jurisdiction}: ${unpinned}`.toUpperCase()]),
    ...(refusal === undefined ? [] : [`REFUSED, always: ${refusalText(refusal, rejected)} (${refusal})`]),
    ...allowed.map((candidate, index) => `${index + 1}. ${servingText(candidate)}`),
    ...rejected
      .filter((one) => !isTold(one))
      .map(({ endpoint, rejected: why }) => `never ${endpoint}: ${why}`),
  ];
}

/** Why every call is refused, as far as the reasons of the single endpoints do not say it. */
function refusalText(
  refusal: NonNullable<MatrixRow['refusal']>,
  rejected: readonly RejectedCandidate[],
): string {
  switch (refusal) {
    case 'model_not_allowed':
      return rejected.length === 0
        ? 'the list of workloads leaves this one out'
        : 'no endpoint has a model that is approved';
    case 'region_blocked':
      return 'the rules leave no endpoint';
    case 'workload_unknown':
      return 'no endpoint speaks this API';
    case 'no_compliant_endpoint':
      return 'no endpoint can be used';
  }
}

const servingText = ({ endpoint, model }: Candidate): string =>
  `${endpoint.id}: ${placeText(endpoint)}; ${endpoint.provider}, model ${model}`;

function placeText({ region, country, deployment, zone }: Endpoint): string {
  if (deployment === 'global') return 'anywhere in the world (deployment global)';
  if (deployment === 'zone') return `anywhere in ${zone ?? 'an unknown zone'} (deployment zone)`;
  const city = region === undefined ? undefined : cloudRegion(region)?.city;
  return [region, city, country].filter((part) => part !== undefined).join(', ');
}
