import { once } from 'node:events';
import type { Server } from 'node:net';

/** Binds a server, port 0 to a free one; resolves to its URL, and rejects where the address cannot be had. */
export async function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  server.listen(port, host);
  await once(server, 'listening');
  return `http://${host.includes(':') ? `[${host}]` : host}:${portOf(server)}`;
}

/** The port of a server that is bound to an address. Throws where it is not. */
export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server is bound to no port');
  return address.port;
}

/** Takes no new connections; resolves when the last of the others has ended. */
export function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
