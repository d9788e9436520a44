import { FAULTS, type Fault, type Report } from '../../shared/verify/report.ts';

/** A report in words that an auditor can sign, and then each fault. */
export function reportText(report: Report): string {
  const { faults, more_faults: more } = report;
  const lines = [...subject(report), '', ...findings(report), '', verdict(report)];
  if (faults.length > 0) lines.push('', ...faults.map(faultText));
  if (more > 0) lines.push(`and ${more} more`);
  return `${lines.join('\n')}\n`;
}

function subject({ scope, log, jurisdiction, tenant, window, checkpoints }: Report): readonly string[] {
  const { count: heads, first, last } = checkpoints;
  const head = last && `${last.size} records, signed ${last.at}${witnessed(last.witnesses)}`;
  const what = {
    log: 'A window of the whole log',
    tenant: `The records of the tenant ${tenant ?? ''}`,
    call: 'The records of one call',
    receipt: 'One receipt',
    proof: 'One proof',
  }[scope];
  return [
    `${what}${log === undefined ? '' : ` of ${log}`}${jurisdiction === undefined ? '' : `, zone ${jurisdiction}`}.`,
    ...(window === undefined ? [] : [`Window: ${window.from} to ${window.to}, as the bundle says.`]),
    ...(heads > 1 && first ? [`From the checkpoint of ${first.size} records, signed ${first.at},`] : []),
    ...(head === undefined ? [] : [`${heads > 1 ? '  to' : 'By'} the checkpoint of ${head}.`]),
  ];
}

const witnessed = (names: readonly string[]): string =>
  names.length === 0 ? '' : `, cosigned by ${names.join(', ')}`;

function findings(report: Report): readonly string[] {
  const { scope, records, receipts, faults } = report;
  if (scope === 'receipt') {
    return receipts.map(
      ({ request_id, at, tenant, endpoint, serving_region, provider_region, region_source }) =>
        `A trusted key vouches, ${at}: the call ${request_id} of ${tenant} was answered by ${endpoint} in ${serving_region ?? provider_region ?? 'a region unknown'} (${region_source ?? 'nothing shows it'}). Whether its record is in the log takes a bundle or a proof.`,
    );
  }
  const lines = [`${count(records.proven, 'record')} proven to stand in the log at its place.`];
  if (records.pruned > 0)
    lines.push(`${count(records.pruned, 'place')} whose record was dropped after its time.`);
  if (scope === 'log' && !faults.some(({ fault }) => INCOMPLETE.has(fault))) {
    lines.push('None is missing between the first and the last checkpoint.');
  }
  if (scope === 'tenant') lines.push('Whether the tenant has more records, only the whole log can show.');
  if (receipts.length > 0) {
    lines.push(`${count(receipts.length, 'receipt')} proven, of answers from:`, ...regions(report));
  }
  return lines;
}

const INCOMPLETE: ReadonlySet<Fault['fault']> = new Set(['missing', 'changed', 'forged', 'malformed']);

function regions({ receipts }: Report): readonly string[] {
  const counts = new Map<string, number>();
  for (const { serving_region, provider_region, region_source } of receipts) {
    const where = `${serving_region ?? provider_region ?? 'unknown'} (${region_source ?? 'not shown'})`;
    counts.set(where, (counts.get(where) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a).map(([where, number]) => `  ${where}: ${number}`);
}

function verdict({ ok, strict, faults, more_faults: more }: Report): string {
  const found = count(faults.length + more, 'fault');
  if (!ok) return `NOT PROVEN: ${found}.`;
  if (faults.length === 0) return 'PROVEN: no fault was found.';
  return `PROVEN, and ${found} that ${strict ? '' : 'only --strict fails on'}:`;
}

function faultText({ fault, request_id, record, place, reason }: Fault): string {
  const about = [
    ...(request_id === undefined ? [] : [`request ${request_id}`]),
    ...(record === undefined ? [] : [`record ${record}`]),
    ...(place === undefined ? [] : [`place ${place}`]),
  ];
  return `${fault} (${FAULTS[fault]})${about.length === 0 ? '' : `: ${about.join(', ')}`}\n  ${printable(reason)}`;
}

/** What a bundle says must not move a terminal's cursor. */
const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '?');

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
