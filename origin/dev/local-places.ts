import { createServer } from 'node:net';
import type { StackFile } from '../control/stack-file.ts';
import { UsageFault } from '../usage-fault.ts';
import { type EdgeOptions, type RunningEdge, startEdge } from './edge.ts';

/** How long a stack that may be running has to answer, in ms. */
const ALIVE_MS = 2_000;

/** Whether the stack that wrote this file still runs. */
export async function isRunning({ origins }: StackFile): Promise<boolean> {
  const [first] = Object.values(origins);
  const answer = await fetch(`${first?.url}/healthz`, { signal: AbortSignal.timeout(ALIVE_MS) }).catch(
    () => undefined,
  );
  return answer?.ok === true;
}

/** Starts the edge; a port that is taken is said so. */
export async function edgeOn(options: EdgeOptions): Promise<RunningEdge> {
  try {
    return await startEdge(options);
  } catch (cause) {
    const taken = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
    throw taken
      ? new UsageFault(`port ${options.port} is taken: stop what uses it, or give another with --port`)
      : cause;
  }
}

/** The port where it is free on loopback, else 0, which takes any. */
export function free(port: number): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(0));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(port)));
  });
}
