import type { Call } from './admit/call.ts';
import type { Answer } from './forward/answer.ts';
import type { Ending } from './forward/answer-body.ts';
import type { Gateway } from './gateway.ts';
import { Outflow } from './reply.ts';
import { violationOf } from './violation.ts';

export type Interrupter = 'client' | 'gateway' | 'endpoint';

/** How an answer went over to the caller; `bytes` were handed to the connection. */
export type Relayed =
  | { readonly kind: 'completed'; readonly bytes: number }
  | {
      readonly kind: 'interrupted';
      readonly by: Interrupter;
      readonly bytes: number;
      /** The endpoint ended it by its verdict on the request. */
      readonly blamesRequest?: true;
    };

/**
 * Passes the answer on piece by piece, no faster than the caller reads, and ends it as it deserves.
 *
 * @param allows asked before each piece but the first goes out; where it says no, the answer is cut there
 */
export async function relay(
  gateway: Gateway,
  call: Call,
  answer: Answer,
  allows: () => boolean,
): Promise<Relayed> {
  const outflow = new Outflow(call, gateway.clock, gateway.config.limits.client_stall_ms);
  try {
    let piece = answer.opening;
    for (;;) {
      if (piece.bytes.length > 0 && !(await outflow.write(piece.bytes))) break;
      if (piece.end) return await finish(call, answer, outflow, piece.end);
      piece = await answer.body.next();
      if (!allows()) return await cutOff(call, answer, outflow);
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
      return {
        ...{ kind: 'interrupted', by, bytes: outflow.bytes },
        ...(ending.verdict && { blamesRequest: true }),
      };
    }
  }
}

/** Ends an answer whose endpoint was found in a wrong place: nothing more of it goes out. */
async function cutOff(call: Call, { dialect }: Answer, outflow: Outflow): Promise<Relayed> {
  // What went out last can have ended inside an event, which an empty line ends.
  if (dialect === undefined) outflow.cut();
  else await outflow.end(`\n\n${dialect.errorEvent(violationOf(call), call.requestId)}`);
  return { kind: 'interrupted', by: 'gateway', bytes: outflow.bytes };
}

const errorEvent = (call: Call, { dialect }: Answer): string | undefined =>
  dialect?.errorEvent({ code: 'upstream_interrupted' }, call.requestId);
