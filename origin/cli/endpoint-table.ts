import type { EndpointView } from '../control/endpoint-view.ts';

export interface ZoneEndpoint extends EndpointView {
  readonly jurisdiction: string;
}

const HEADING = ['zone', 'endpoint', 'calls', 'state', 'since', 'next', 'where', 'serves', 'why'];

/** The endpoints as a person on call reads them, and what to type where one waits for them. `now` in ms. */
export function endpointTable(endpoints: readonly ZoneEndpoint[], now: number): string {
  const rows = [HEADING, ...endpoints.map((endpoint) => cells(endpoint, now))];
  const widths = HEADING.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return `${[...lines, ...advice(endpoints)].map((line) => line.trimEnd()).join('\n')}\n`;
}

const cells = (endpoint: ZoneEndpoint, now: number): string[] => [
  endpoint.jurisdiction,
  endpoint.id,
  endpoint.usable ? 'yes' : 'NO',
  endpoint.state.replace('_', ' '),
  endpoint.since === null ? '-' : `${span(now - Date.parse(endpoint.since))} ago`,
  endpoint.next === null ? '-' : `in ${span(Date.parse(endpoint.next) - now)}`,
  `${endpoint.region ?? 'no region'} (${endpoint.country ?? 'country unknown'})`,
  endpoint.workloads.join(', '),
  why(endpoint),
];

function why({ reason, ordered_by, evidence }: ZoneEndpoint): string {
  const by = ordered_by === null ? '' : `, by ${ordered_by}`;
  const seen = evidence === null ? '' : `: ${evidence.region} (${evidence.source})`;
  return `${reason ?? ''}${seen}${by}`;
}

/** A span of time in its largest unit; what lies behind already counts as now. */
function span(ms: number): string {
  const seconds = Math.max(Math.round(ms / 1_000), 0);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** What holds until a person takes it back, and how. */
function advice(endpoints: readonly ZoneEndpoint[]): string[] {
  const held = endpoints.filter(
    ({ state, next }) => state === 'quarantined' || (state === 'forced_open' && next === null),
  );
  if (held.length === 0) return [];
  const commands = held.map(
    ({ id, jurisdiction }) => `  residency endpoints release ${id} --zone ${jurisdiction} --why "…"`,
  );
  return ['', 'Out until a person releases them:', ...commands];
}
