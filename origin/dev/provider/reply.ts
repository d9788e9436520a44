import { STATUS_CODES } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Answer } from './answer.ts';
import type { Exchange } from './exchange.ts';
import type { Fault } from './fault.ts';
import { headersOf, type RegionReport } from './head.ts';
import { Outlet } from './outlet.ts';
import { sendEvents } from './stream.ts';

type Answers = { [Kind in Answer['kind']]: Extract<Answer, { kind: Kind }> };

/** Writes an answer to its connection, with everything that the order adds to it or breaks in it. */
export async function reply(
  exchange: Exchange,
  status: number,
  answer: Answer,
  region: RegionReport | undefined,
): Promise<void> {
  const { order, response } = exchange;
  exchange.arrival.note({ stage: 'answering' });
  await exchange.pause('headers');
  if (order.raw !== undefined) return await sendRaw(exchange, order.raw);
  if (order.fault?.at === 'before_headers') return await breakOff(exchange, order.fault.ending);
  for (const interim of order.interim ?? []) {
    exchange.request.socket.write(`HTTP/1.1 ${interim} ${STATUS_CODES[interim] ?? 'Unknown'}\r\n\r\n`);
  }
  closeAfterwards(exchange);
  const unfinished =
    answer.kind === 'events'
      ? await sendStream(exchange, status, answer.frames, region)
      : await sendBody(exchange, status, answer, region);
  if (unfinished !== undefined) return await breakOff(exchange, unfinished);
  await exchange.pause('close');
  response.end();
}

async function sendStream(
  exchange: Exchange,
  status: number,
  frames: Answers['events']['frames'],
  region: RegionReport | undefined,
): Promise<Fault['ending'] | undefined> {
  const { order, response, signal } = exchange;
  response.writeHead(status, headersOf(exchange, 'text/event-stream; charset=utf-8', region));
  response.flushHeaders();
  return await sendEvents(exchange, new Outlet(response, signal, order), frames);
}

async function sendBody(
  exchange: Exchange,
  status: number,
  answer: Answers['body'],
  region: RegionReport | undefined,
): Promise<Fault['ending'] | undefined> {
  const { order, response, signal } = exchange;
  const bytes = encoded(answer.bytes, order.encoding);
  const bodiless = status < 200 || status === 204 || status === 304;
  response.writeHead(status, {
    ...(!bodiless &&
      order.chunked !== true && { 'content-length': bytes.length + (order.overstateLength ?? 0) }),
    ...headersOf(exchange, bodiless ? '' : answer.contentType, region),
  });
  response.flushHeaders();
  if (order.fault?.at === 'before_body') return order.fault.ending;
  await exchange.pause('first_token');
  const outlet = new Outlet(response, signal, order);
  if (!bodiless) await outlet.send(bytes);
  await outlet.flush();
  return outlet.exhausted ? order.fault?.ending : undefined;
}

function encoded(bytes: Buffer, encoding: 'gzip' | 'br' | undefined): Buffer {
  switch (encoding) {
    case 'gzip':
      return gzipSync(bytes);
    case 'br':
      return brotliCompressSync(bytes);
    case undefined:
      return bytes;
  }
}

/** Leaves the answer unfinished in the ordered way. A terminator has been written by now, where there is one. */
async function breakOff(exchange: Exchange, how: Fault['ending']): Promise<void> {
  switch (how) {
    case 'cut':
    case 'reset':
      return exchange.cut(how);
    case 'silence':
      return await exchange.silence();
    case 'end':
    case 'terminator':
      if (!exchange.response.headersSent) return exchange.cut('cut');
      await exchange.pause('close');
      exchange.response.end(() => {
        // A body short of its length leaves the caller waiting on a connection that is never used again.
        if (!exchange.response.chunkedEncoding) exchange.request.socket.end();
      });
  }
}

/** Arranges for what the order says of the connection once this answer is out. */
function closeAfterwards({ order, request, response }: Exchange): void {
  const silently = order.connection === 'close_silently' || order.overstateLength !== undefined;
  if (silently) response.once('finish', () => request.socket.end());
}

async function sendRaw(exchange: Exchange, raw: NonNullable<Exchange['order']['raw']>): Promise<void> {
  const { socket } = exchange.request;
  socket.write('text' in raw.bytes ? raw.bytes.text : Buffer.from(raw.bytes.base64, 'base64'));
  if (raw.ending === 'silence') return await exchange.silence();
  exchange.arrival.end('cut');
  socket.end();
}
