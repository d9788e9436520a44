import { cloudRegion } from '../../shared/catalogue.ts';
import type { AuditRecord } from '../../shared/record.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { type HeaderReader, providerOf } from '../endpoints/provider.ts';
import { lastingRejection, type Standpoint } from './standing.ts';

/** Where an answer ran by the best evidence there is, and whether the policy allows that place. */
export interface Evidence {
  readonly allowed: boolean;
  readonly facts: Pick<AuditRecord, 'serving_region' | 'region_source' | 'region_verdict'>;
}

/**
 * Weighs what an answer's headers and the endpoint's host say of where it ran. A region other than the
 * endpoint's own must pass the same rules that a candidate passes; one that the catalogue does not know
 * passes none.
 */
export function weigh(
  endpoint: Endpoint,
  header: HeaderReader,
  workload: string,
  for_: Standpoint,
): Evidence {
  const observed = providerOf(endpoint.provider).observeRegion(endpoint, header);
  if (observed === undefined) return { allowed: true, facts: { region_verdict: 'unverified' } };
  const { region, source } = observed;
  const facts = { serving_region: region, region_source: source };
  if (source === 'declared') return { allowed: true, facts: { ...facts, region_verdict: 'unverified' } };
  if (region === endpoint.region) return { allowed: true, facts: { ...facts, region_verdict: 'match' } };
  const { country: _, zone: __, ...rest } = endpoint;
  const country = cloudRegion(region)?.country;
  const there: Endpoint = { ...rest, region, ...(country !== undefined && { country }) };
  const allowed = country !== undefined && lastingRejection(there, workload, for_) === undefined;
  return { allowed, facts: { ...facts, region_verdict: 'mismatch' } };
}
