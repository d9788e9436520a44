import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Every item of a stream, once it has ended. */
export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

/** The types of a stream's events in their order, each once for all of it that come in a row. */
export async function courseOf<T extends string>(stream: AsyncIterable<{ type: T }>): Promise<T[]> {
  const types = (await collect(stream)).map(({ type }) => type);
  return types.filter((type, at) => type !== types[at - 1]);
}

/** The course of a streamed message as the Messages API has it. */
export const MESSAGE_COURSE = [
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
];

/** The bytes of a POST request with a JSON body, for a connection that no client library manages. */
export function rawPost(path: string, document: object, ...headers: string[]): string {
  const body = JSON.stringify(document);
  const lines = [`POST ${path} HTTP/1.1`, 'host: provider', `content-length: ${Buffer.byteLength(body)}`];
  return [...lines, ...headers, '', body].join('\r\n');
}

export async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** All that a connection receives until the other side ends it. */
export async function untilEnd(socket: Socket): Promise<Buffer> {
  return Buffer.concat(await collect<Buffer>(socket));
}

/** What a connection receives up to and including `mark`. Rejects when it ends before. */
export async function untilText(socket: Socket, mark: string): Promise<string> {
  let text = '';
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const take = (part: Buffer) => {
    text += part.toString('latin1');
    if (text.includes(mark)) resolve(text);
  };
  const ended = () => reject(new Error(`the connection ended after: ${text}`));
  socket.on('data', take).once('end', ended).once('close', ended);
  try {
    return await promise;
  } finally {
    socket.off('data', take).off('end', ended).off('close', ended);
  }
}
