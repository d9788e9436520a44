import type { IncomingHttpHeaders } from 'node:http';
import type { Chance } from './chance.ts';
import { type Asked, events, type Frame, failure, plain } from './frames.ts';
import { REGION_HEADER } from './written.ts';

/** How an endpoint does at present. */
export const MOODS = [
  'well',
  'down',
  'unreachable',
  'slow',
  'busy',
  'cutting',
  'failing streams',
  'silent',
  'picky',
  'lying',
  'locked',
] as const;
export type Mood = (typeof MOODS)[number];

/** What an endpoint will do with one request. */
export interface Plan {
  /** Code of the connection's fault where there is no answer. */
  readonly refuse?: string;
  readonly afterMs: number;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly frames: readonly Frame[];
  readonly end: 'end' | 'cut' | 'silence';
}

/** Where a liar says that it ran: abroad, or at home but where not every caller may be served. */
const LIES = ['us-east-1', 'eu-west-1', 'eu-central-1', 'eu-west-2', 'no region at all'] as const;

/** What an endpoint in this mood does with a request. */
export function planOf(mood: Mood, asked: Asked, home: string, chance: Chance): Plan {
  const good = answer(asked, chance, chance.hit(0.5) ? { [REGION_HEADER]: home } : {});
  switch (mood) {
    case 'well':
      return good;
    case 'down':
      return refusal(chance.pick([500, 502, 503, 529, 307]), chance);
    case 'unreachable':
      return { ...good, refuse: chance.pick(['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_CONNECT_TIMEOUT']) };
    case 'slow':
      return { ...good, afterMs: chance.int(2_000, 18_000) };
    case 'busy':
      return refusal(429, chance, busyHeaders(chance));
    case 'cutting':
      return { ...good, frames: good.frames.slice(0, chance.int(0, good.frames.length - 1)), end: 'cut' };
    case 'failing streams':
      if (!asked.stream) return good;
      return { ...good, frames: [...good.frames.slice(0, chance.int(0, 4)), failure(asked)] };
    case 'silent':
      return { ...good, frames: good.frames.slice(0, chance.int(0, good.frames.length)), end: 'silence' };
    case 'picky':
      return refusal(chance.pick([400, 404, 422]), chance);
    case 'lying':
      return { ...good, headers: { ...good.headers, [REGION_HEADER]: chance.pick(LIES) } };
    case 'locked':
      return refusal(chance.pick([401, 403]), chance);
  }
}

const busyHeaders = (chance: Chance): IncomingHttpHeaders =>
  chance.pick<[IncomingHttpHeaders, ...IncomingHttpHeaders[]]>([
    { 'retry-after': String(chance.int(0, 20)) },
    { 'retry-after-ms': String(chance.int(0, 5_000)) },
    { 'retry-after': '86400' },
    { 'retry-after': 'soon' },
    {},
  ]);

function refusal(status: number, chance: Chance, headers: IncomingHttpHeaders = {}): Plan {
  const text = JSON.stringify({ error: { message: 'no', type: 'a_kind' } });
  return {
    afterMs: chance.int(0, 400),
    status,
    headers: { 'content-type': 'application/json', location: 'https://elsewhere.test/', ...headers },
    frames: [{ afterMs: 0, text, kind: 'content' }],
    end: 'end',
  };
}

function answer(asked: Asked, chance: Chance, headers: IncomingHttpHeaders): Plan {
  const type = asked.stream ? 'text/event-stream' : 'application/json';
  return {
    afterMs: chance.int(0, 600),
    status: 200,
    headers: { 'content-type': type, ...headers },
    frames: asked.stream ? events(asked, chance) : [{ afterMs: 0, text: plain(asked), kind: 'content' }],
    end: 'end',
  };
}
