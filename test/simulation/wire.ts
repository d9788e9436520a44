import { Duplex } from 'node:stream';

/** One side of a connection in memory: what is written to it, the other side reads. */
class WireSide extends Duplex {
  #peer: WireSide | undefined;
  /** Ends the write of the other side that waits for this one to read. */
  #wanted: ((error?: Error) => void) | undefined;
  readonly #moved: () => void;

  constructor(moved: () => void) {
    super({ allowHalfOpen: true });
    this.#moved = moved;
  }

  join(peer: WireSide): void {
    this.#peer = peer;
  }

  override _read(): void {
    const wanted = this.#wanted;
    this.#wanted = undefined;
    if (wanted) {
      this.#moved();
      wanted();
    }
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    const peer = this.#peer;
    this.#moved();
    if (peer === undefined || peer.destroyed) done(reset());
    else if (peer.push(chunk)) done();
    else peer.#wanted = done;
  }

  override _final(done: () => void): void {
    this.#moved();
    if (this.#peer?.destroyed === false) this.#peer.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#moved();
    this.#wanted?.(reset());
    this.#wanted = undefined;
    // A side that has said all it had to say only goes; one that is torn away resets the other.
    const abrupt = !this.writableFinished;
    const peer = this.#peer;
    if (abrupt && peer) process.nextTick(() => peer.destroyed || peer.destroy(reset()));
    done(error);
  }

  /** As sockets have it: closes once everything that was written has gone out. */
  destroySoon(): void {
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy()).end();
  }
}

const reset = (): Error => Object.assign(new Error('connection reset'), { code: 'ECONNRESET' });

/** The two sides of a connection: the caller's and the origin's. */
export interface Wire {
  readonly near: WireSide;
  readonly far: WireSide;
}

export function newWire(moved: () => void): Wire {
  const [near, far] = [new WireSide(moved), new WireSide(moved)];
  near.join(far);
  far.join(near);
  return { near, far };
}
