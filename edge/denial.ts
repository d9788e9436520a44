import type { Refusal } from '../shared/errors.ts';
import type { Zone } from '../shared/zones.ts';

/** A refusal, and what is known of whom it concerns: that decides which origin keeps its record. */
export interface Denial {
  readonly refusal: Refusal;
  /** The tenant that the request names. */
  readonly tenant: string | undefined;
  /** The jurisdiction that the request claims, where it is a known zone. */
  readonly claimed: Zone | undefined;
  /** The zone in the tenant's entry, or why there is none. */
  readonly zone: Zone | 'not_looked_up' | 'not_found';
}
