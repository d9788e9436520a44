import { connect, createServer, type Socket } from 'node:net';

/** An address that stays, before a server that does not. */
export interface Relay {
  readonly url: string;
  /** Where connections go from now on. */
  to(url: string): void;
  close(): Promise<void>;
}

/** Passes connections on, byte for byte; one whose server is gone is broken off. */
export async function startRelay(): Promise<Relay> {
  const open = new Set<Socket>();
  let port = 0;
  const server = createServer((client) => {
    const server = connect({ host: '127.0.0.1', port });
    open.add(client);
    const end = () => {
      client.destroy();
      server.destroy();
      open.delete(client);
    };
    client.on('error', end).on('close', end).pipe(server);
    server.on('error', end).on('close', end).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a relay without a port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    to: (url) => {
      port = Number(new URL(url).port);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const client of open) client.destroy();
      }),
  };
}
