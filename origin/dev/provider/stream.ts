import { type Answer, type Frame, named, unnamed } from './answer.ts';
import { errorDocument, usualError } from './error-body.ts';
import type { Exchange } from './exchange.ts';
import type { Fault } from './fault.ts';
import { encodeFrame } from './frames.ts';
import type { PausePoint } from './gates.ts';
import type { Outlet } from './outlet.ts';
import { routeOf } from './route.ts';

type Frames = Extract<Answer, { kind: 'events' }>['frames'];

/**
 * Writes an event stream to its end, or to where the order's fault comes. Gives what shall become of the
 * connection then, or undefined where the stream went out whole.
 */
export async function sendEvents(
  exchange: Exchange,
  outlet: Outlet,
  frames: Frames,
): Promise<Fault['ending'] | undefined> {
  const { fault } = exchange.order;
  let content = 0;
  let broken = false;
  for (const frame of frames) {
    if (!broken && fault !== undefined && comes(fault.at, frame, content)) {
      broken = true;
      if (fault.errorEvent) await put(exchange, outlet, errorFrame(exchange));
      if (fault.ending !== 'terminator') return await stop(outlet, fault.ending);
    }
    if (broken && frame.part !== 'terminator') continue;
    const point = pauseBefore(frame, content);
    if (point !== undefined) await exchange.pause(point);
    await put(exchange, outlet, frame);
    if (outlet.exhausted && fault !== undefined) return await stop(outlet, fault.ending);
    if (frame.part === 'content') content += 1;
  }
  await outlet.flush();
  return undefined;
}

async function put({ order, arrival }: Exchange, outlet: Outlet, frame: Frame): Promise<void> {
  const bytes = encodeFrame(frame, order.wire ?? {}, arrival.framesSent === 0);
  await outlet.write(bytes, frame.part === 'terminator');
  arrival.note({ framesSent: arrival.framesSent + 1 });
}

/** An answer that ends in good order ends its content encoding in good order too. */
async function stop(outlet: Outlet, ending: Fault['ending']): Promise<Fault['ending']> {
  if (ending === 'end' && !outlet.exhausted) await outlet.write(Buffer.alloc(0), true);
  await outlet.flush();
  return ending;
}

function comes(at: Fault['at'], frame: Frame, content: number): boolean {
  if (typeof at === 'object') return 'contentFrames' in at && content >= at.contentFrames;
  switch (at) {
    case 'before_headers':
      return false;
    case 'before_body':
      return true;
    case 'before_content':
      return frame.part !== 'lifecycle';
    case 'before_terminator':
      return frame.part === 'terminator';
  }
}

function pauseBefore(frame: Frame, content: number): PausePoint | undefined {
  switch (frame.part) {
    case 'content':
      return content === 0 ? 'first_token' : 'frame';
    case 'terminator':
      return 'terminator';
    case 'lifecycle':
    case 'closing':
      return undefined;
  }
}

/** The error event of the stream's API. Its usual error is the one that streams really break with: overload. */
function errorFrame({ api, arrival, order }: Exchange): Frame {
  const error = usualError(api, api === 'anthropic' ? 529 : 503, order.error);
  if (api === 'anthropic') {
    return named('closing', { type: 'error', ...errorDocument(api, error, `req_${arrival.index}`) });
  }
  if (routeOf(arrival.method, arrival.path) !== 'response') {
    return unnamed('closing', errorDocument(api, error, `req_${arrival.index}`));
  }
  const event = { type: 'error', code: error.code, message: error.message, param: null };
  return named('closing', { ...event, sequence_number: arrival.framesSent });
}
