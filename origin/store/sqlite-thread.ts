import { Worker } from 'node:worker_threads';
import type { Clock } from '../clock.ts';
import { OPENING, type Reply, type SqliteRequest, type ThreadSetup } from './sqlite-messages.ts';
import { StoreError } from './store.ts';

/** Most calls that may wait for one thread; above it a call is `busy` at once. */
const CALLS_MAX = 1_024;
/** A thread that ended by itself is not started again sooner than this after its end, in milliseconds. */
export const RESTART_PAUSE_MS = 1_000;
/** How long a thread may take to end what it does and close, in milliseconds; then it is terminated. */
const CLOSE_MS = 5_000;

type Rows = readonly object[];

interface Waiting {
  resolve(rows: Rows): void;
  reject(error: StoreError): void;
}

/** One worker thread with one database connection, started again when it ends by itself. */
export class SqliteThread {
  readonly #setup: ThreadSetup;
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #nextCall = OPENING + 1;
  #resting: (() => void) | undefined;
  /** Why the thread ended, or cannot open the database, where it said so. */
  #fault: StoreError | undefined;
  #closing: Promise<void> | undefined;

  constructor(setup: ThreadSetup, clock: Clock) {
    this.#setup = setup;
    this.#clock = clock;
  }

  /** Starts the thread; resolves once the database is open. */
  async open(): Promise<void> {
    const opening = this.#wait(OPENING);
    this.#start(this.#setup);
    await opening;
  }

  /**
   * The answer of the thread. With `limitMs`, rejects as `busy` after that time, whatever the thread then does;
   * without, it takes as long as the database takes.
   */
  call(request: SqliteRequest, limitMs?: number): Promise<Rows> {
    const refusal = this.#unavailable();
    if (refusal !== undefined) return Promise.reject(refusal);
    if (this.#worker === undefined) this.#start({ ...this.#setup, create: false });
    const call = this.#nextCall++;
    const answer = this.#wait(call);
    this.#worker?.postMessage({ call, request });
    return limitMs === undefined ? answer : this.#within(limitMs, call, answer);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #unavailable(): StoreError | undefined {
    if (this.#closing !== undefined) return new StoreError('closed', 'the store is closed');
    if (this.#resting !== undefined) return this.#ending();
    if (this.#waiting.size >= CALLS_MAX)
      return new StoreError('busy', `${CALLS_MAX} calls wait for the database`);
    return undefined;
  }

  #wait(call: number): Promise<Rows> {
    return new Promise((resolve, reject) => this.#waiting.set(call, { resolve, reject }));
  }

  async #within(limitMs: number, call: number, answer: Promise<Rows>): Promise<Rows> {
    const cancel = this.#clock.setTimeout(() => {
      this.#waiting.get(call)?.reject(new StoreError('busy', `the database did not answer in ${limitMs} ms`));
      this.#waiting.delete(call);
    }, limitMs);
    return await answer.finally(cancel);
  }

  #start(setup: ThreadSetup): void {
    const worker = new Worker(new URL('./sqlite-worker.ts', import.meta.url), { workerData: setup });
    this.#worker = worker;
    this.#fault = undefined;
    worker.on('message', (reply: Reply) => this.#settle(reply));
    worker.on('error', (error) => {
      this.#fault = new StoreError('failed', `the database thread broke: ${error.message}`);
    });
    worker.on('exit', () => this.#ended(worker));
  }

  #settle(reply: Reply): void {
    const waiting = this.#waiting.get(reply.call);
    this.#waiting.delete(reply.call);
    if (reply.ok) {
      waiting?.resolve(reply.rows);
      return;
    }
    const error = new StoreError(reply.kind, reply.message);
    if (reply.call === OPENING) this.#fault = error;
    waiting?.reject(error);
  }

  /** The connection has closed with the thread, so what was not committed by now never will be. */
  #ended(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    const ending = this.#ending();
    for (const { reject } of this.#waiting.values()) reject(ending);
    this.#waiting.clear();
    if (this.#closing !== undefined) return;
    this.#resting = this.#clock.setTimeout(() => {
      this.#resting = undefined;
    }, RESTART_PAUSE_MS);
  }

  #ending(): StoreError {
    return new StoreError('failed', this.#fault?.message ?? 'the database thread ended');
  }

  async #close(): Promise<void> {
    this.#resting?.();
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    const cancel = this.#clock.setTimeout(() => void worker.terminate(), CLOSE_MS);
    worker.postMessage({ call: this.#nextCall++, request: { op: 'close' } });
    await ended;
    cancel();
  }
}
