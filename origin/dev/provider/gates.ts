/**
 * Points at which an answer can be held: before the request's body is read, before the status line, before
 * the first content (or a plain body), before each further content event, before the terminator, and after
 * the last byte before the answer is ended.
 */
export const PAUSE_POINTS = ['body', 'headers', 'first_token', 'frame', 'terminator', 'close'] as const;
export type PausePoint = (typeof PAUSE_POINTS)[number];

/** Gates that a test opens by name, so that it decides the order of events and never sleeps. */
export class Gates {
  readonly #free = new Map<PausePoint, number>();
  readonly #waiting = new Map<PausePoint, Set<() => void>>();

  /** Goes through at once where that was allowed in advance; false where it was not. */
  enter(point: PausePoint): boolean {
    const free = this.#free.get(point) ?? 0;
    if (free > 0) this.#free.set(point, free - 1);
    return free > 0;
  }

  /** Resolves when the gate lets one through; rejects with the signal's reason when that comes first. */
  async wait(point: PausePoint, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const waiting = this.#waiting.get(point) ?? new Set();
    this.#waiting.set(point, waiting);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const hungUp = () => reject(signal.reason);
    signal.addEventListener('abort', hungUp, { once: true });
    waiting.add(resolve);
    try {
      await promise;
    } finally {
      waiting.delete(resolve);
      signal.removeEventListener('abort', hungUp);
    }
  }

  /** Lets `times` through, those that wait first and later ones after them; Infinity leaves it open. */
  release(point: PausePoint, times: number): void {
    let left = times;
    for (const go of this.#waiting.get(point) ?? []) {
      if (left === 0) return;
      left -= 1;
      this.#waiting.get(point)?.delete(go);
      go();
    }
    this.#free.set(point, (this.#free.get(point) ?? 0) + left);
  }

  /** Takes back what was let through in advance. */
  shut(point: PausePoint): void {
    this.#free.delete(point);
  }

  shutAll(): void {
    this.#free.clear();
  }
}
