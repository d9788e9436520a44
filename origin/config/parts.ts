import { z } from 'zod';
import { regionName } from '../../shared/catalogue.ts';
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
  /** Their regions. */
  readonly regions: ReadonlySet<string>;
  readonly policies: readonly string[];
  readonly tenants: string | undefined;
  readonly edgeKeys: string | undefined;
  readonly signingKey: string | undefined;
}

const list = z.array(z.unknown()).catch([]);
const text = z.string().optional().catch(undefined);
const labelled = z.object({ id: text, region: text }).catch({});

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
  const labels = loose.endpoints.map((entry) => labelled.parse(entry));
  const entries = loose.endpoints.flatMap((raw, index) => {
    const entry = endpointEntrySchema.safeParse(raw).data;
    return entry === undefined ? [] : [{ index, entry }];
  });
  return {
    zone: loose.jurisdiction,
    entries,
    ids: new Set(labels.flatMap(({ id }) => id ?? [])),
    regions: new Set(labels.flatMap(({ region = '' }) => regionName(region) ?? [])),
    policies: loose.policies.filter((file) => typeof file === 'string'),
    tenants: loose.tenants,
    edgeKeys: loose.edge_keys,
    signingKey: loose.signing_key,
  };
}
