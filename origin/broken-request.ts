import { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ulid } from 'ulid';
import { errorBody, type Refusal, statusOf } from '../shared/errors.ts';
import { HEADER } from '../shared/headers.ts';
import type { Zone } from '../shared/zones.ts';

/**
 * Bytes of one request's head at which Node's parser gives up, before there is a request to hold a limit to: as
 * much memory as a stranger's connection can take.
 */
export const PARSER_HEADER_BYTES = 65_536;

const NOT_HTTP: Refusal = { code: 'body_invalid', why: 'the request is not well-formed HTTP' };
const TOO_SLOW: Refusal = { code: 'body_invalid', why: 'the request did not arrive whole in time' };
const TOO_LARGE: Refusal = { code: 'body_too_large', limit: 'header_bytes', bytes: PARSER_HEADER_BYTES };

const REASON: Readonly<Record<number, string>> = { 400: 'Bad Request', 413: 'Content Too Large' };

/** Answers what is not HTTP, or too much of it, before there is a request that could be recorded. */
export function answerBrokenRequest(zone: Zone, fault: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || fault.code === 'ECONNRESET' || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const { status, head, body } = brokenAnswer(zone, refusalOf(fault.code));
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${REASON[status] ?? 'Error'}\r\n${lines.join('')}\r\n${body}`);
}

/** The answer to a request of which nothing can be said but that it is broken. */
export function brokenAnswer(zone: Zone, refusal: Refusal = NOT_HTTP) {
  const id = ulid();
  const body = JSON.stringify(errorBody(refusal, 'openai', id));
  const head = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
    [HEADER.requestId]: id,
    [HEADER.residencyJurisdiction]: zone,
    [HEADER.outcome]: 'refused',
    [HEADER.decidedBy]: 'origin',
  };
  return { status: statusOf(refusal), head, body };
}

function refusalOf(fault: string | undefined): Refusal {
  switch (fault) {
    case 'HPE_HEADER_OVERFLOW':
      return TOO_LARGE;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return TOO_SLOW;
    default:
      return NOT_HTTP;
  }
}

/**
 * Whether the connection owes the answer to another request: this one would be read as that one's, or as its
 * content. Node's own handler asks the same member, and has no public name for it.
 */
function isAnswering(socket: Duplex): boolean {
  const current: unknown = Reflect.get(socket, '_httpMessage');
  return current instanceof ServerResponse && (current.headersSent || current.req.complete);
}
