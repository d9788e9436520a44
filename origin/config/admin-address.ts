import { isLoopback } from '../endpoints/registry.ts';
import type { Secret } from '../endpoints/secret.ts';
import { secretFrom } from './environment.ts';
import type { Fault } from './fault.ts';
import type { OriginFile } from './schema.ts';
import type { YamlFile } from './yaml-file.ts';

export interface AdminAddress {
  readonly host: string;
  readonly port: number;
  readonly token?: Secret;
}

/** Where operators come in; an address that others can reach needs a token. */
export function adminOf(
  yaml: YamlFile,
  { admin: { host, port, token_env: name }, listen }: OriginFile,
  env: NodeJS.ProcessEnv,
  faults: Fault[],
): AdminAddress {
  const complain = (member: string, message: string) =>
    faults.push({ path: yaml.at(['admin', member]), message });
  if (port !== 0 && port === listen.port) complain('port', 'is the port of "listen" too: give it its own');
  if (name === undefined) {
    if (!isLoopback(host)) complain('host', 'can be reached from elsewhere: name a token with token_env');
    return { host, port };
  }
  const token = secretFrom(env, name);
  if (token.ok) return { host, port, token: token.value };
  faults.push({ path: yaml.at(['admin', 'token_env']), ...token.error });
  return { host, port };
}
