import { isZone } from '../../shared/zones.ts';
import type { Endpoint } from './endpoint.ts';
import { NoCredential } from './no-credential.ts';
import { bearer, openaiUrl } from './openai-api.ts';
import type { AccessTokens, Credential, HostPlace, Provider } from './provider-contract.ts';
import { isKeyFile, readServiceAccount } from './service-account.ts';

const GOOGLE = /(?:^|\.)googleapis\.com$/;

/**
 * The hosts of a location. Every other one (the global host, those of Private Service Connect and of mutual TLS)
 * ends TLS wherever Google likes, whatever location the path names.
 */
const HOST = /^(?:([a-z0-9-]+)-aiplatform|aiplatform\.([a-z0-9-]+)\.rep)\.googleapis\.com$/;

const LOCATION = /\/locations\/([^/]*)/gi;

/** The locations that a path names, as its server reads it; undefined where that is not clear. */
export function locationsIn({ pathname }: URL): readonly string[] | undefined {
  let path: string;
  try {
    path = decodeURIComponent(pathname);
  } catch {
    return undefined;
  }
  return path.includes('%') ? undefined : [...path.matchAll(LOCATION)].map(([, location = '']) => location);
}

/** The location stands in the path as well; where the two differ, neither is a promise. */
function placeOf(url: URL): HostPlace | undefined {
  if (!GOOGLE.test(url.hostname)) return undefined;
  const host = HOST.exec(url.hostname);
  const location = host?.[1] ?? host?.[2];
  const [named, another] = locationsIn(url) ?? [];
  const agree = named === location && another === undefined;
  if (location === undefined || location === 'global' || !agree) return { kind: 'anywhere' };
  return isZone(location) ? { kind: 'zone', zone: location } : { kind: 'region', region: location };
}

/** A credential that is no key file is a token itself, which somebody else keeps fresh. */
async function authorize(endpoint: Endpoint, tokens: AccessTokens): Promise<Credential> {
  const { credential } = endpoint;
  if (credential === undefined || !isKeyFile(credential.reveal())) return bearer(endpoint);
  const account = readServiceAccount(credential.reveal());
  if (!account.ok) throw new NoCredential(`it ${account.error}`);
  return { authorization: `Bearer ${await tokens.of(account.value)}` };
}

function faultOf(text: string): string | undefined {
  const account = readServiceAccount(text);
  return account.ok ? undefined : account.error;
}

/**
 * Google Vertex AI's OpenAI-compatible endpoint of a location, with an access token as bearer:
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/start/openai and …/learn/locations. The token comes
 * from the key of a service account (https://developers.google.com/identity/protocols/oauth2/service-account);
 * nothing of a call goes there.
 */
export const vertex: Provider = {
  name: 'vertex',
  api: 'openai',
  authorize,
  keyFile: { is: isKeyFile, fault: faultOf },
  url: openaiUrl,
  placeOf,
};
