import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { ADMIN_TOKEN } from '../support/zone.ts';
import type { Failpoint } from './failpoint.ts';

const ENTRY = fileURLToPath(new URL('origin.ts', import.meta.url));

/** How long an origin may take to get ready, to take an order or to end, in ms. */
const PATIENCE_MS = 20_000;

const readySchema = z.object({ url: z.string(), admin: z.string() });

/** One run of an origin's process. */
export interface Life {
  readonly url: string;
  readonly admin: string;
  readonly over: boolean;
  /** It dies at this write, once it comes to it. */
  arm(failpoint: Failpoint): Promise<void>;
  /** Resolves once it has ended, to the signal that ended it. Rejects where it goes on for too long. */
  end(): Promise<NodeJS.Signals | null>;
  kill(signal: 'SIGKILL' | 'SIGTERM'): void;
}

const isOver = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

async function told(child: ChildProcess): Promise<unknown> {
  const said = once(child, 'message', { signal: AbortSignal.timeout(PATIENCE_MS) });
  const [message] = await Promise.race([said, once(child, 'exit').then(() => [])]);
  said.catch(() => undefined);
  return message;
}

async function ended(child: ChildProcess): Promise<NodeJS.Signals | null> {
  if (!isOver(child)) await once(child, 'exit', { signal: AbortSignal.timeout(PATIENCE_MS) });
  return child.signalCode;
}

/** One life after the other. Loading a program is most of a start, so the next one has loaded it and stands by. */
export class Lives {
  readonly #config: string;
  readonly #folder: string;
  #next: ChildProcess;

  /** @param config of the origin; its log goes to a file beside it */
  constructor(config: string) {
    this.#config = config;
    this.#folder = dirname(config);
    this.#next = this.#standBy();
  }

  /** Starts an origin that is ready. */
  async start(): Promise<Life> {
    const child = this.#begin({});
    const { url, admin } = readySchema.parse(await told(child));
    return {
      url,
      admin,
      get over() {
        return isOver(child);
      },
      arm: async (failpoint) => {
        const armed = told(child);
        child.send(failpoint);
        await armed;
      },
      end: () => ended(child),
      kill: (signal) => {
        child.kill(signal);
      },
    };
  }

  /** Starts an origin that dies at a write before it is ready; gives the signal that ended it. */
  startDoomed(failpoint: Failpoint): Promise<NodeJS.Signals | null> {
    return ended(this.#begin({ failpoint }));
  }

  async close(): Promise<void> {
    this.#next.kill('SIGKILL');
    await ended(this.#next);
  }

  #begin(order: { readonly failpoint?: Failpoint }): ChildProcess {
    const child = this.#next;
    child.send(order);
    this.#next = this.#standBy();
    return child;
  }

  #standBy(): ChildProcess {
    const log = openSync(join(this.#folder, 'origin.log'), 'a', 0o600);
    const cache = join(this.#folder, 'compiled');
    const child = spawn(process.execPath, [ENTRY, this.#config], {
      stdio: ['ignore', log, log, 'ipc'],
      env: { ...process.env, TEST_ADMIN_TOKEN: ADMIN_TOKEN, NODE_COMPILE_CACHE: cache },
    });
    closeSync(log);
    return child;
  }
}
