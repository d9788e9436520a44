import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Binds a server, port 0 to a free one; resolves to its URL, and rejects where the address cannot be had. */
export async function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

/** Takes no new connections; resolves when the last of the others has ended. */
export function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
