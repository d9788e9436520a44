/** What is known of an endpoint's health at one moment; `why` is in words for the person on call. */
export type EndpointHealth = Usable | Unusable;

interface Usable {
  readonly usable: true;
}

export interface Unusable {
  readonly usable: false;
  readonly why: string;
  /** When it may be tried again, in ms since the epoch; Infinity where a person has to act first. */
  readonly retryAt: number;
}

/**
 * The health of every endpoint at one moment, as data for a decision. It MUST answer for any id, MUST NOT do
 * I/O, and MUST give the same answer however often it is asked.
 */
export interface HealthSnapshot {
  of(endpointId: string): EndpointHealth;
}

export const USABLE: Usable = { usable: true };

export const everyEndpointHealthy: HealthSnapshot = { of: () => USABLE };
