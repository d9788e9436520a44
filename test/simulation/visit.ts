import type { Dispatcher } from 'undici';
import type { Clock } from '../../origin/clock.ts';
import type { Frame } from './frames.ts';
import type { Plan } from './plan.ts';

export interface VisitSetup {
  readonly endpoint: string;
  /** Which call it belongs to; undefined for a probe. */
  readonly call: string | undefined;
  readonly workload: string;
  readonly plan: Plan;
  readonly clock: Clock;
  moved(): void;
}

/** One request at one endpoint: plays what the endpoint does with it, at the client's seam between pool and call. */
export class Visit implements Dispatcher.DispatchController {
  readonly endpoint: string;
  readonly call: string | undefined;
  readonly workload: string;
  readonly plan: Plan;
  /** Ms since the epoch at which leave was given for it. */
  begunAt: number;
  aborted = false;
  paused = false;
  reason: Error | null = null;
  /** Its status or its connection's fault has been seen, or its first content: whether a circuit knows by now. */
  told = false;
  /** Nothing more will come of it. */
  over = false;
  readonly #setup: VisitSetup;
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #frames: Frame[];
  #cancel: () => void = () => undefined;
  #held = false;

  constructor(setup: VisitSetup, handler: Dispatcher.DispatchHandler) {
    this.endpoint = setup.endpoint;
    this.call = setup.call;
    this.workload = setup.workload;
    this.plan = setup.plan;
    this.begunAt = setup.clock.now();
    this.#setup = setup;
    this.#handler = handler;
    this.#frames = [...setup.plan.frames];
  }

  begin(): void {
    this.#handler.onRequestStart?.(this, null);
    if (!this.over) this.#after(this.plan.afterMs, () => this.#answer());
  }

  abort(reason: Error): void {
    if (this.over) return;
    this.aborted = true;
    this.reason = reason;
    this.#fail(reason);
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    if (!this.#held || this.over) return;
    this.#held = false;
    this.#next();
  }

  /** The process that made it is no more. */
  forget(): void {
    this.over = true;
    this.#cancel();
  }

  #answer(): void {
    const { refuse, status, headers } = this.plan;
    if (refuse !== undefined) {
      this.#fail(broken(refuse));
      return;
    }
    if (status >= 300) this.told = true;
    this.#handler.onResponseStart?.(this, status, headers, '');
    this.#next();
  }

  #next(): void {
    if (this.over) return;
    if (this.paused) {
      this.#held = true;
      return;
    }
    const frame = this.#frames.shift();
    if (frame === undefined) {
      this.#finish();
      return;
    }
    this.#after(frame.afterMs, () => {
      // A probe of the gateway's own is judged by its whole answer, a call by its first content.
      if (frame.kind === 'content' && this.call !== undefined) this.told = true;
      this.#handler.onResponseData?.(this, Buffer.from(frame.text));
      this.#next();
    });
  }

  #finish(): void {
    switch (this.plan.end) {
      case 'end':
        this.over = true;
        this.told = true;
        this.#handler.onResponseEnd?.(this, {});
        return;
      case 'cut':
        this.#fail(broken('UND_ERR_SOCKET'));
        return;
      case 'silence':
        return;
    }
  }

  #fail(error: Error): void {
    this.over = true;
    this.told = true;
    this.#cancel();
    this.#setup.moved();
    this.#handler.onResponseError?.(this, error);
  }

  #after(ms: number, fn: () => void): void {
    this.#cancel = this.#setup.clock.setTimeout(() => {
      this.#setup.moved();
      if (!this.over) fn();
    }, ms);
  }
}

const broken = (code: string): Error => Object.assign(new Error('broken'), { code });
