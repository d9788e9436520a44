import type { Duplex } from 'node:stream';
import { errorBody, type Refusal } from '../shared/errors.ts';

/** Answers what is not HTTP, or too much of it, before there is a request that could be recorded. */
export function answerBrokenRequest(fault: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || fault.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const tooLarge = fault.code === 'HPE_HEADER_OVERFLOW';
  const refusal: Refusal = tooLarge
    ? { code: 'body_too_large', limit: 'header_bytes', bytes: 131_072 }
    : { code: 'body_invalid', why: 'the request is not well-formed HTTP' };
  const body = JSON.stringify(errorBody(refusal, 'openai', 'none'));
  socket.end(
    `HTTP/1.1 ${tooLarge ? '431 Request Header Fields Too Large' : '400 Bad Request'}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
