import type { EndpointView } from '../control/endpoint-view.ts';
import { typedCommand } from '../typed-command.ts';
import { tableText } from './table.ts';

export interface ZoneEndpoint extends EndpointView {
  readonly jurisdiction: string;
}

export interface TableSetup {
  /** In ms since the epoch. */
  readonly now: number;
  /** The options by which the person points the command at the origin of an endpoint. */
  pointing(endpoint: ZoneEndpoint): readonly string[];
}

const HEADING = [
  ...['zone', 'endpoint', 'allowed', 'health', 'circuit', 'since', 'tried', 'next', 'failed', 'first token'],
  ...['where', 'serves', 'why'],
];

/** The endpoints as a person on call reads them, and what to type where one waits for them. */
export function endpointTable(endpoints: readonly ZoneEndpoint[], setup: TableSetup): string {
  const rows = endpoints.map((endpoint) => cells(endpoint, setup.now));
  return tableText(HEADING, rows) + advice(endpoints, setup).join('');
}

const cells = (endpoint: ZoneEndpoint, now: number): string[] => [
  endpoint.jurisdiction,
  endpoint.id,
  endpoint.allowed ? 'yes' : 'never',
  endpoint.health === 'out' ? 'OUT' : endpoint.health,
  endpoint.state.replace('_', ' '),
  ago(endpoint.out_since ?? endpoint.since, now),
  ago(endpoint.last_tried, now),
  endpoint.next === null ? '-' : `in ${span(Date.parse(endpoint.next) - now)}`,
  failed(endpoint),
  firstToken(endpoint),
  `${endpoint.region ?? 'no region'} (${endpoint.country ?? 'country unknown'})`,
  endpoint.workloads.join(', '),
  why(endpoint),
];

const failed = ({ recent: { outcomes, failures, error_rate: rate } }: ZoneEndpoint): string =>
  rate === null ? '-' : `${failures} of ${outcomes} (${Math.round(rate * 100)}%)`;

const firstToken = ({ recent: { ttft_ms: ms } }: ZoneEndpoint): string =>
  ms === null ? '-' : `${Math.round(ms.typical)} ms, last ${Math.round(ms.last)} ms`;

function why({ never, reason, ordered_by, evidence }: ZoneEndpoint): string {
  const by = ordered_by === null ? '' : `, by ${ordered_by}`;
  const seen = evidence === null ? '' : `: ${evidence.region} (${evidence.source})`;
  const health = `${reason ?? ''}${seen}${by}`;
  return [never, health].filter((part) => part !== null && part !== '').join('; ');
}

const ago = (time: string | null, now: number): string =>
  time === null ? '-' : `${span(now - Date.parse(time))} ago`;

/** A span of time in its largest unit; what lies behind already counts as now. */
function span(ms: number): string {
  const seconds = Math.max(Math.round(ms / 1_000), 0);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** What holds until a person takes it back, and how. */
function advice(endpoints: readonly ZoneEndpoint[], { pointing }: TableSetup): string[] {
  const held = endpoints.filter(
    ({ state, next }) => state === 'quarantined' || (state === 'forced_open' && next === null),
  );
  if (held.length === 0) return [];
  const commands = held.map(
    (endpoint) =>
      `  ${typedCommand('endpoints', 'release', endpoint.id, ...pointing(endpoint), '--why', '…')}\n`,
  );
  return ['\nOut until a person releases them:\n', ...commands];
}
