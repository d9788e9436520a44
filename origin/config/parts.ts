import { z } from 'zod';
import { ZONES, type Zone } from '../../shared/zones.ts';
import { type EndpointEntry, endpointEntrySchema } from '../endpoints/registry.ts';

/** An entry of the registry and its place in the file. */
export interface PlacedEntry {
  readonly index: number;
  readonly entry: EndpointEntry;
}

/** What of an origin's file can be read, so that a fault in one part does not hide those of the others. */
export interface Parts {
  readonly zone: Zone | undefined;
  readonly entries: readonly PlacedEntry[];
  /** Ids of all entries, those with faults too. */
  readonly ids: ReadonlySet<string>;
  readonly policies: readonly string[];
  readonly tenants: string | undefined;
  readonly edgeKeys: string | undefined;
  readonly signingKey: string | undefined;
}

const list = z.array(z.unknown()).catch([]);
const text = z.string().optional().catch(undefined);
const named = z.object({ id: z.string() });

const looseSchema = z
  .object({
    jurisdiction: z.enum(ZONES).optional().catch(undefined),
    endpoints: list,
    policies: list,
    tenants: text,
    edge_keys: text,
    signing_key: text,
  })
  .catch({ jurisdiction: undefined, endpoints: [], policies: [] });

/** The parts of an origin's file that have their form. */
export function readableParts(value: unknown): Parts {
  const loose = looseSchema.parse(value);
  const ids = loose.endpoints.flatMap((entry) => named.safeParse(entry).data?.id ?? []);
  const entries = loose.endpoints.flatMap((raw, index) => {
    const entry = endpointEntrySchema.safeParse(raw).data;
    return entry === undefined ? [] : [{ index, entry }];
  });
  return {
    zone: loose.jurisdiction,
    entries,
    ids: new Set(ids),
    policies: loose.policies.filter((file) => typeof file === 'string'),
    tenants: loose.tenants,
    edgeKeys: loose.edge_keys,
    signingKey: loose.signing_key,
  };
}
