import type { Zone } from '../../shared/zones.ts';
import { checkEndpoint } from '../endpoints/check.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { providerOf } from '../endpoints/provider.ts';
import { type EndpointEntry, endpointOf } from '../endpoints/registry.ts';
import type { Secret } from '../endpoints/secret.ts';
import { secretFrom } from './environment.ts';
import type { Fault } from './fault.ts';
import type { PlacedEntry } from './parts.ts';
import type { YamlFile } from './yaml-file.ts';

/** The registry of an origin's file; what is wrong with it goes to `faults`. */
export function readRegistry(
  yaml: YamlFile,
  entries: readonly PlacedEntry[],
  zone: Zone,
  env: NodeJS.ProcessEnv,
  faults: Fault[],
): ReadonlyMap<string, Endpoint> {
  const registry = new Map<string, Endpoint>();
  for (const { index, entry } of entries) {
    const complain = (path: readonly PropertyKey[], message: string) =>
      faults.push({
        path: yaml.at(['endpoints', index, ...path]),
        message: `endpoint ${entry.id}: ${message}`,
      });
    const endpoint = endpointOf(entry, credential(entry, env, complain));
    for (const { path, message } of checkEndpoint(endpoint, entry.country, zone)) complain(path, message);
    if (registry.has(entry.id)) complain(['id'], 'the id stands in the registry twice');
    registry.set(entry.id, endpoint);
  }
  return registry;
}

function credential(
  { credential_env: name, provider }: EndpointEntry,
  env: NodeJS.ProcessEnv,
  complain: (path: readonly PropertyKey[], message: string) => void,
): Secret | undefined {
  if (name === undefined) return undefined;
  const secret = secretFrom(env, name, providerOf(provider).keyFile);
  if (secret.ok) return secret.value;
  complain(['credential_env'], secret.error);
  return undefined;
}
