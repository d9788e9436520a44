import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import { listen, portOf } from '../listening.ts';

export interface Front {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/**
 * Stands where Cloudflare's network stands in front of a Worker, for one thing that it does there: it tells the
 * runtime that a caller has hung up. A caller that ends its connection while it waits is gone, but workerd by
 * itself takes a FIN for a caller that has no more to send; only a reset ends its work. Bytes pass as they are.
 */
export async function startFront(host: string, port: number, target: () => URL): Promise<Front> {
  const callers = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (caller) => {
    callers.add(caller);
    caller.once('close', () => callers.delete(caller));
    join(caller, new ReadToTheEnd().setNoDelay().connect(Number(target().port), host));
  });
  await listen(server, { host, port });
  return {
    port: portOf(server),
    close: async () => {
      for (const caller of callers) caller.resetAndDestroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Milliseconds for which a caller that is still sending may read the answer after the runtime has closed. */
const LINGER_MS = 2_000;

function join(caller: Socket, runtime: Socket): void {
  caller.pipe(runtime, { end: false });
  runtime.pipe(caller);
  caller.once('end', () => runtime.resetAndDestroy());
  caller.once('error', () => runtime.resetAndDestroy());
  runtime.once('error', () => runtime.destroy());
  runtime.once('close', () => linger(caller));
}

/**
 * A socket whose writes fail in silence, so that what lies in it can still be read: a runtime that refuses a long
 * body answers and then resets the connection, and the answer must not fall to the next write.
 */
class ReadToTheEnd extends Socket {
  override _write(chunk: unknown, encoding: BufferEncoding, done: () => void): void {
    super._write(chunk, encoding, () => done());
  }

  override _writev(chunks: { chunk: unknown; encoding: BufferEncoding }[], done: () => void): void {
    super._writev?.(chunks, () => done());
  }
}

/** Closing over unread bytes would reset the connection, and the answer to them would be lost on the way. */
function linger(caller: Socket): void {
  caller.unpipe();
  caller.end();
  caller.resume();
  const timer = setTimeout(() => caller.destroy(), LINGER_MS);
  caller.once('close', () => clearTimeout(timer));
}
