import type { ModelRoute } from '../../shared/routes.ts';
import type { Chance } from './chance.ts';
import type { Member } from './documents.ts';
import { promptOf } from './endpoints.ts';
import { WORKLOADS } from './written.ts';

/** What is wrong with a call that has to be refused. */
export const FLAWS = ['no assertion', 'wrong key', 'no such workload', 'not JSON', 'half a body'] as const;
export type Flaw = (typeof FLAWS)[number];

/** One call as somebody makes it. */
export interface Ask {
  /** Its `x-request-id`. */
  readonly id: string;
  readonly member: Member;
  readonly path: ModelRoute['path'];
  readonly api: ModelRoute['api'];
  readonly stream: boolean;
  readonly workload: string;
  readonly body: string;
  readonly flaw: Flaw | undefined;
  readonly idempotencyKey: string | undefined;
  /** After how long, in ms, the caller hangs up if it is still there; undefined where it waits. */
  readonly hangsUpAfterMs: number | undefined;
  /** How long the caller reads nothing once the answer has begun, in ms. */
  readonly dozesMs: number;
}

const ROUTES = [
  { path: '/v1/chat/completions', api: 'openai', streams: true },
  { path: '/v1/chat/completions', api: 'openai', streams: true },
  { path: '/v1/embeddings', api: 'openai', streams: false },
  { path: '/v1/messages', api: 'anthropic', streams: true },
  { path: '/v1/messages', api: 'anthropic', streams: true },
] as const;

/** The next call of the run. */
export function newAsk(number: number, members: readonly [Member, ...Member[]], chance: Chance): Ask {
  const id = `call-${number}`;
  const { path, api, streams } = chance.pick(ROUTES);
  const stream = streams && chance.hit(0.6);
  const flaw = chance.hit(0.06) ? chance.pick(FLAWS) : undefined;
  const workload = flaw === 'no such workload' ? 'unheard-of' : chance.pick(WORKLOADS);
  return {
    id,
    member: chance.pick(members),
    path,
    api,
    stream,
    workload,
    flaw,
    body: flaw === 'not JSON' ? promptOf(id) : bodyOf(id, workload, stream),
    idempotencyKey: chance.hit(0.1) ? `key-${chance.int(1, 5)}` : undefined,
    hangsUpAfterMs: chance.hit(0.15) ? chance.int(0, 6_000) : undefined,
    dozesMs: chance.hit(0.1) ? chance.int(100, 9_000) : 0,
  };
}

const bodyOf = (id: string, model: string, stream: boolean): string =>
  JSON.stringify({
    model,
    max_tokens: 64,
    ...(stream && { stream }),
    messages: [{ role: 'user', content: promptOf(id) }],
  });
