import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { listen } from '../../origin/listening.ts';

/** A token endpoint on loopback, and the key of a service account for it. */
export interface TokenEndpoint {
  /** The key file's text. */
  readonly keyFile: string;
  readonly publicKey: string;
  readonly uri: string;
  /** The form of every request so far. */
  readonly asked: readonly URLSearchParams[];
  /** What the next requests are answered with; `hold` answers nothing. */
  answer: { readonly status: number; readonly body: string } | 'hold';
  close(): Promise<void>;
}

/** Answers with `token-1`, `token-2`, … of an hour each, unless it is told otherwise. */
export async function startTokenEndpoint(): Promise<TokenEndpoint> {
  const asked: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      asked.push(new URLSearchParams(text));
      if (endpoint.answer === 'hold') return;
      const { status, body } = endpoint.answer;
      response.writeHead(status).end(body.replace('NUMBER', String(asked.length)));
    });
  });
  const uri = `${await listen(server, { host: '127.0.0.1', port: 0 })}/token`;
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const endpoint: TokenEndpoint = {
    uri,
    asked,
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    keyFile: JSON.stringify({
      type: 'service_account',
      project_id: 'p',
      private_key_id: 'key-1',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      client_email: 'caller@p.iam.example',
      token_uri: uri,
    }),
    answer: { status: 200, body: '{"access_token":"token-NUMBER","expires_in":3600,"token_type":"Bearer"}' },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return endpoint;
}
