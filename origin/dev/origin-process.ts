import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** How long an origin may take to get ready, in ms. */
const READY_MS = 30_000;

const CLI = fileURLToPath(new URL('../cli/residency.ts', import.meta.url));
const readySchema = z.object({ url: z.string(), admin: z.string() });

export interface OriginProcess {
  readonly url: string;
  readonly admin: string;
  readonly process: ChildProcess;
  /** SIGTERM, and waits until it has drained and ended. */
  stop(): Promise<void>;
}

/**
 * Runs `residency origin` as a process of its own, its log going to a file. Rejects where it does not become
 * ready; the log says why.
 */
export async function startOriginProcess(
  config: string,
  logFile: string,
  environment: Record<string, string> = {},
): Promise<OriginProcess> {
  mkdirSync(dirname(logFile), { recursive: true });
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(process.execPath, [CLI, 'origin', '--config', config], {
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...process.env, ...environment },
  });
  const ended = once(child, 'exit');
  const ready = once(child, 'message', { signal: AbortSignal.timeout(READY_MS) });
  const first = await Promise.race([ready, ended.then(() => undefined)]).catch(() => undefined);
  ready.catch(() => undefined);
  const addresses = readySchema.safeParse(first?.[0]);
  if (!addresses.success) {
    child.kill('SIGKILL');
    const said = readFileSync(logFile, 'utf8').trim().split('\n').at(-1) ?? '';
    throw new Error(`the origin of ${config} did not start; the last line of ${logFile} is: ${said}`);
  }
  return {
    ...addresses.data,
    process: child,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await ended;
    },
  };
}
