import { BUNDLE_VERSION, type Manifest } from '../../../shared/bundle.ts';
import { cloudRegion } from '../../../shared/catalogue.ts';
import { type BundleSpools, ordered } from './bundle-spools.ts';
import type { LogSource } from './log-source.ts';
import type { RecordsPart } from './records-part.ts';
import type { Window } from './window.ts';

/** What a bundle says of itself, once all of its files are there. */
export async function manifestOf(
  source: LogSource,
  { from, to, first, last }: Window,
  { records, receipts, regions }: RecordsPart,
  spools: BundleSpools,
  { tenant, createdAt }: { readonly tenant?: string; readonly createdAt: string },
): Promise<Manifest> {
  const declared = await source.declaredRegions();
  return {
    version: BUNDLE_VERSION,
    ...{ log: source.log, jurisdiction: source.jurisdiction },
    scope: tenant === undefined ? 'log' : 'tenant',
    ...(tenant !== undefined && { tenant }),
    ...{ from, to, created_at: createdAt },
    first: first === undefined ? null : { size: first.size, at: first.at },
    last: { size: last.size, at: last.at },
    ...{ records, receipts },
    declared_regions: declared.filter(({ region }) => regions.has(region) && !cloudRegion(region)),
    files: ordered(spools).flatMap(({ files }) => files),
  };
}
