import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '../../shared/errors.ts';
import { presentedKey } from '../../shared/gateway-key.ts';
import { HEADER, type Outcome } from '../../shared/headers.ts';
import { requestIdFrom } from '../../shared/request-id.ts';
import { type Api, apiOf, pathOf, type RouteName, routeName } from '../../shared/routes.ts';
import type { Zone } from '../../shared/zones.ts';
import type { Facts } from '../audit/records.ts';
import type { Clock } from '../clock.ts';

/** Who ended a call before its answer was whole. */
export type StoppedBy = 'client' | 'gateway';

/**
 * One request while it is under way: what was asked, where the answer goes, and the facts that its records
 * have in common. Made from headers alone.
 */
export class Call {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly requestId: string;
  /** Path and query exactly as received. */
  readonly target: string;
  readonly route: RouteName | undefined;
  readonly api: Api;
  /** ms since the epoch. */
  readonly startedAt: number;
  /** Response headers that hold for every answer from here on. */
  readonly headers: Record<string, string> = {};
  facts: Facts;
  /** What the caller was told in the end; `interrupted` where an answer that had begun was not whole. */
  told: { readonly outcome: Outcome | 'interrupted'; readonly code?: ErrorCode } | undefined;
  /** When an endpoint's answer began to go out, in ms since the epoch. */
  begun: { readonly at: number; readonly streamed: boolean } | undefined;
  readonly #stop = new AbortController();
  readonly #gone = new AbortController();
  #stoppedBy: StoppedBy | undefined;
  #waitedMs = 0;

  constructor(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    zone: Zone,
    now: number,
    newId: () => string,
  ) {
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.target = incoming.url ?? '/';
    this.requestId = requestIdFrom(this.header(HEADER.requestId), newId);
    const path = pathOf(this.target);
    this.route = routeName(path);
    this.api = apiOf(path, this.header('anthropic-version'));
    this.startedAt = now;
    this.headers[HEADER.requestId] = this.requestId;
    this.headers[HEADER.residencyJurisdiction] = zone;
    this.headers[HEADER.decidedBy] = 'origin';
    this.facts = {
      jurisdiction: zone,
      request_id: this.requestId,
      ...(this.route !== undefined && { route: this.route }),
    };
    outgoing.on('close', () => {
      if (!outgoing.writableFinished) this.stop('client');
    });
    // A socket that breaks is seen by its close; without a listener its error would end the process.
    outgoing.on('error', () => undefined);
  }

  /** A header's value where it was sent as one. */
  header(name: string): string | undefined {
    const value = this.incoming.headers[name];
    return typeof value === 'string' ? value : undefined;
  }

  get presentedKey() {
    return presentedKey((name) => this.header(name));
  }

  /** Aborted when nobody waits for the answer any more, or the process has to end. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  get stoppedBy(): StoppedBy | undefined {
    return this.#stoppedBy;
  }

  /** Aborted when the caller has hung up. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  stop(by: StoppedBy): void {
    this.#stoppedBy ??= by;
    if (by === 'client') this.#gone.abort();
    this.#stop.abort();
  }

  /** Asks for the body of a caller who waits with it until it is wanted (`expect: 100-continue`). */
  inviteBody(): void {
    if (/^100-continue$/i.test(this.header('expect') ?? '')) this.outgoing.writeContinue();
  }

  /** ms of this call's time that passed waiting for others. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  /** Waits for the caller or an endpoint; the time of it is not the gateway's own. */
  async waitFor<T>(clock: Clock, others: Promise<T>): Promise<T> {
    const from = clock.now();
    try {
      return await others;
    } finally {
      this.#waitedMs += Math.max(clock.now() - from, 0);
    }
  }

  know(facts: Partial<Facts>): void {
    this.facts = { ...this.facts, ...facts };
  }
}
