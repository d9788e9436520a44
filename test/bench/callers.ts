import { Pool } from 'undici';
import { HEADER } from '../../shared/headers.ts';
import { chat, presented } from '../support/calls.ts';
import { assertionOf } from '../support/worded-assertion.ts';
import { type Span, timed } from './stopwatch.ts';
import type { BenchZone } from './zone-config.ts';

const TARGET = '/v1/chat/completions';
const BODY = chat('support-chat', 'x'.repeat(1_024));

/** Longest wait for an answer, in ms: whatever is slower than that is not measured but broken. */
const ANSWER_MS = 10_000;

/** How a run went. The CPU time is that of all in this process: callers, origin and provider. */
export interface Calls {
  readonly all: Span;
  /** On the wall, in ms. */
  readonly each: readonly number[];
}

/** Callers of one origin, which stand where the edge stands. */
export class Callers {
  readonly #zone: Pick<BenchZone, 'edgeKey' | 'key'>;
  readonly #pool: Pool;

  constructor(zone: Pick<BenchZone, 'edgeKey' | 'key'>, url: string) {
    this.#zone = zone;
    this.#pool = new Pool(url, { connections: null, headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS });
  }

  /** Makes so many calls, so many at a time. Rejects where one was not answered with a receipt. */
  async run(calls: number, atATime: number): Promise<Calls> {
    // Signed before, as that is the edge's work; each is good for one call, and for a minute.
    const asserted = { zone: 'eu', tenant: 'acme', target: TARGET } as const;
    const waiting = await Promise.all(
      Array.from({ length: calls }, () => assertionOf(this.#zone.edgeKey, asserted)),
    );
    const each: number[] = [];
    const caller = async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const assertion = next;
        each.push((await timed(() => this.#call(assertion))).wall);
      }
    };
    const all = await timed(() => Promise.all(Array.from({ length: atATime }, caller)));
    return { all, each };
  }

  async #call(assertion: string): Promise<void> {
    const { statusCode, headers, body } = await this.#pool.request({
      method: 'POST',
      path: TARGET,
      headers: {
        ...presented('eu', this.#zone.key),
        'content-type': 'application/json',
        [HEADER.assertion]: assertion,
      },
      body: BODY,
    });
    await body.arrayBuffer();
    if (statusCode !== 200 || headers[HEADER.receipt] === undefined)
      throw new Error(`a call was answered with ${statusCode}`);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
