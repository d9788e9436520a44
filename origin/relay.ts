import type { Call } from './admit/call.ts';
import type { Ending } from './forward/answer-body.ts';
import type { Answer } from './forward/attempt.ts';
import type { Gateway } from './gateway.ts';
import { Outflow } from './reply.ts';

export type Interrupter = 'client' | 'gateway' | 'endpoint';

/** How an answer went over to the caller; `bytes` were handed to the connection. */
export type Relayed =
  | { readonly kind: 'completed'; readonly bytes: number }
  | { readonly kind: 'interrupted'; readonly by: Interrupter; readonly bytes: number };

/**
 * Passes the answer on piece by piece, no faster than the caller reads, and ends it as it deserves.
 *
 * @param before called before each piece but the first goes out
 */
export async function relay(
  gateway: Gateway,
  call: Call,
  answer: Answer,
  before: () => void,
): Promise<Relayed> {
  const outflow = new Outflow(call, gateway.clock, gateway.config.limits.client_stall_ms);
  try {
    let piece = answer.opening;
    for (;;) {
      if (piece.bytes.length > 0 && !(await outflow.write(piece.bytes))) break;
      if (piece.end) return await finish(call, answer, outflow, piece.end);
      piece = await answer.body.next();
      before();
      if (call.stoppedBy === 'client') break;
    }
    return { kind: 'interrupted', by: call.stoppedBy ?? 'client', bytes: outflow.bytes };
  } finally {
    answer.body.close();
  }
}

async function finish(call: Call, answer: Answer, outflow: Outflow, ending: Ending): Promise<Relayed> {
  switch (ending.kind) {
    case 'completed': {
      const taken = await outflow.end();
      const { bytes } = outflow;
      return taken
        ? { kind: 'completed', bytes }
        : { kind: 'interrupted', by: call.stoppedBy ?? 'client', bytes };
    }
    case 'interrupted': {
      const by = call.stoppedBy ?? 'endpoint';
      // Without an event of its own, only a broken connection says that a body is not whole.
      if (answer.dialect === undefined) outflow.cut();
      else await outflow.end(ending.told ? undefined : errorEvent(call, answer));
      return { kind: 'interrupted', by, bytes: outflow.bytes };
    }
  }
}

const errorEvent = (call: Call, { dialect }: Answer): string | undefined =>
  dialect?.errorEvent({ code: 'upstream_interrupted' }, call.requestId);
