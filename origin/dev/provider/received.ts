import type { IncomingMessage } from 'node:http';
import type { PausePoint } from './gates.ts';

/** How an exchange ended: answered in full, the caller hung up, or the provider itself broke it off. */
export type Closed = 'completed' | 'aborted' | 'cut';

/** One request that reached the provider. It enters the list with its headers, before its body is there. */
export interface Received {
  /** Place in the order of arrival since the start or the last reset, from 0. */
  readonly index: number;
  readonly method: string;
  /** Path without query. */
  readonly path: string;
  /** Query with its `?`, or an empty string. */
  readonly query: string;
  /** Names and values exactly as sent, repeats included. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Empty until all of it is there. */
  readonly body: Buffer;
  readonly model: string | undefined;
  readonly stage: 'receiving' | 'received' | 'answering' | 'closed';
  /** The gate or delay that the answer waits at. */
  readonly heldAt: PausePoint | undefined;
  /** Events of the stream that have been written. */
  readonly framesSent: number;
  /** Undefined while the exchange runs. */
  readonly outcome: Closed | undefined;
  readonly closed: Promise<Closed>;
  /** Value of the first header of that name, in any case. */
  header(name: string): string | undefined;
}

/** The provider's own side of a `Received`: the same facts, as they change. */
export class Arrival implements Received {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly closed: Promise<Closed>;
  body: Buffer = Buffer.alloc(0);
  model: string | undefined;
  stage: Received['stage'] = 'receiving';
  heldAt: PausePoint | undefined;
  framesSent = 0;
  outcome: Closed | undefined;
  readonly index: number;
  readonly #changed: (arrival: Arrival) => void;
  readonly #close: (how: Closed) => void;

  constructor(index: number, request: IncomingMessage, changed: (arrival: Arrival) => void) {
    const target = request.url ?? '/';
    const question = target.indexOf('?');
    this.index = index;
    this.method = request.method ?? '';
    this.path = question < 0 ? target : target.slice(0, question);
    this.query = question < 0 ? '' : target.slice(question);
    this.headers = pairs(request.rawHeaders);
    const { promise, resolve } = Promise.withResolvers<Closed>();
    this.closed = promise;
    this.#close = resolve;
    this.#changed = changed;
  }

  header(name: string): string | undefined {
    return this.headers.find(([given]) => given.toLowerCase() === name.toLowerCase())?.[1];
  }

  /** Notes what has changed and tells those who wait for it. */
  note(facts: Partial<Pick<Arrival, 'body' | 'model' | 'stage' | 'heldAt' | 'framesSent'>>): void {
    if (this.stage === 'closed') return;
    Object.assign(this, facts);
    this.#changed(this);
  }

  /** The end; only the first one counts, so that the provider's own cut is not taken for a hang-up. */
  end(how: Closed): void {
    if (this.outcome !== undefined) return;
    this.outcome = how;
    this.#close(how);
    this.note({ stage: 'closed', heldAt: undefined });
  }
}

function pairs(raw: readonly string[]): [string, string][] {
  const list: [string, string][] = [];
  for (let at = 0; at < raw.length; at += 2) list.push([raw[at] ?? '', raw[at + 1] ?? '']);
  return list;
}
