import { createHash } from 'node:crypto';
import type { Refusal } from '../../shared/errors.ts';
import { err, ok, type Result } from '../../shared/result.ts';

/** Characters of an idempotency key at most, as the APIs limit it. */
const KEY_CHARS = 255;

/** Hex SHA-256 of an idempotency key, which is all that is kept of it. */
export const idempotencyHash = (key: string): string => createHash('sha256').update(key).digest('hex');

/**
 * The calls under way: bounds their number, and lets no second call in with the idempotency key of one that
 * is still running. A key's scope is its tenant. Nothing is ever replayed.
 */
export class UnderWay {
  readonly #max: number;
  readonly #keys = new Set<string>();
  #calls = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get calls(): number {
    return this.#calls;
  }

  /** Lets a call in, or refuses: `gateway_busy`, `idempotency_in_flight`, `body_invalid`. */
  enter(tenant: string, idempotencyKey: string | undefined): Result<() => void, Refusal> {
    if (idempotencyKey !== undefined && (idempotencyKey === '' || idempotencyKey.length > KEY_CHARS)) {
      const why = `idempotency-key must have 1 to ${KEY_CHARS} characters`;
      return err({ code: 'body_invalid', why, param: 'idempotency-key' });
    }
    if (this.#calls >= this.#max) return err({ code: 'gateway_busy', limit: 'concurrent_requests' });
    const key = idempotencyKey === undefined ? undefined : `${tenant} ${idempotencyHash(idempotencyKey)}`;
    if (key !== undefined && this.#keys.has(key)) return err({ code: 'idempotency_in_flight' });
    this.#calls += 1;
    if (key !== undefined) this.#keys.add(key);
    let inside = true;
    return ok(() => {
      if (!inside) return;
      inside = false;
      this.#calls -= 1;
      if (key !== undefined) this.#keys.delete(key);
    });
  }
}
