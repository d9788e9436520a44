import type { Endpoint } from '../endpoints/endpoint.ts';
import type { LoadedPolicy } from '../policy/document.ts';

/** The names that may become labels: those of the registry and of the policies, which bound their number. */
export interface KnownNames {
  endpoint(id: string): boolean;
  workload(name: string): boolean;
}

export interface NameSource {
  readonly registry: ReadonlyMap<string, Endpoint>;
  readonly policies: ReadonlyMap<string, LoadedPolicy>;
}

/** The names that are known at the moment of asking. */
export const knownNames = ({ registry, policies }: NameSource): KnownNames => ({
  endpoint: (id) => registry.has(id),
  workload: (name) => [...policies.values()].some(({ document }) => Object.hasOwn(document.workloads, name)),
});

/** What stands for every name that is not known. */
const OTHER = 'other';

/** A name as a label: itself where it is known, `other` where it is not, empty where there is none. */
export function labelOf(name: string | undefined, isKnown: (name: string) => boolean): string {
  if (name === undefined) return '';
  return isKnown(name) ? name : OTHER;
}
