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

/** A registry as it was read. */
export interface ReadRegistry {
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  /** Those in whose entries a fault was found. */
  readonly faulty: ReadonlySet<string>;
}

/** The registry of an origin's file; what is wrong with it goes to `faults`. */
export function readRegistry(
  yaml: YamlFile,
  entries: readonly PlacedEntry[],
  zone: Zone,
  env: NodeJS.ProcessEnv,
  faults: Fault[],
): ReadRegistry {
  const endpoints = new Map<string, Endpoint>();
  const faulty = new Set<string>();
  for (const { index, entry } of entries) {
    const complain = (path: readonly PropertyKey[], { message, ...rest }: Omit<Fault, 'path'>) => {
      const place = yaml.at(['endpoints', index, ...path]);
      faults.push({ path: place, message: `endpoint ${entry.id}: ${message}`, ...rest });
      if (rest.toStart === undefined) faulty.add(entry.id);
    };
    const endpoint = endpointOf(entry, credential(entry, env, complain));
    for (const { path, message } of checkEndpoint(endpoint, entry.country, zone)) complain(path, { message });
    if (endpoints.has(entry.id)) complain(['id'], { message: 'the id stands in the registry twice' });
    endpoints.set(entry.id, endpoint);
  }
  return { endpoints, faulty };
}

function credential(
  { credential_env: name, provider }: EndpointEntry,
  env: NodeJS.ProcessEnv,
  complain: (path: readonly PropertyKey[], fault: Omit<Fault, 'path'>) => void,
): Secret | undefined {
  if (name === undefined) return undefined;
  const secret = secretFrom(env, name, providerOf(provider).keyFile);
  if (secret.ok) return secret.value;
  complain(['credential_env'], secret.error);
  return undefined;
}
