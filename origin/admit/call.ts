import type { IncomingMessage, ServerResponse } from 'node:http';
import { presentedKey } from '../../shared/gateway-key.ts';
import { HEADER } from '../../shared/headers.ts';
import { requestIdFrom } from '../../shared/request-id.ts';
import { type Api, apiOf, type RouteName, routeName } from '../../shared/routes.ts';
import type { Zone } from '../../shared/zones.ts';
import type { Facts } from '../audit/records.ts';

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
  readonly #stop = new AbortController();
  readonly #gone = new AbortController();
  #stoppedBy: StoppedBy | undefined;

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
    const path = this.target.split('?', 1)[0] ?? '/';
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

  know(facts: Partial<Facts>): void {
    this.facts = { ...this.facts, ...facts };
  }
}
