import type { Policy } from '../../shared/policy.ts';
import { graphOf } from '../../shared/policy-rules.ts';

/** When the circuit of one endpoint opens, and for how long. */
export interface CircuitSettings {
  /** Failures in a row. */
  readonly openAfter: number;
  readonly halfOpenAfterMs: number;
  /** Longest time to the first token of an answer. */
  readonly maxTtftMs: number;
}

/** For an endpoint that no graph names, and to which therefore no call goes. */
export const UNNAMED_SETTINGS: CircuitSettings = { openAfter: 1, halfOpenAfterMs: 30_000, maxTtftMs: 4_000 };

/**
 * The settings of every endpoint that a graph names. One that several workloads or policies name has one
 * circuit all the same, and takes the strictest of what they say: the fewest failures, the shortest time to
 * the first token, and the longest rest.
 */
export function circuitSettings(policies: Iterable<Policy>): ReadonlyMap<string, CircuitSettings> {
  const settings = new Map<string, CircuitSettings>();
  for (const { workloads } of policies) {
    for (const { failover, health } of Object.values(workloads)) {
      const own: CircuitSettings = {
        openAfter: health.open_circuit_after,
        halfOpenAfterMs: health.half_open_after_seconds * 1_000,
        maxTtftMs: health.max_ttft_ms,
      };
      for (const { endpoint } of graphOf(failover)) {
        settings.set(endpoint, stricter(settings.get(endpoint) ?? own, own));
      }
    }
  }
  return settings;
}

const stricter = (one: CircuitSettings, other: CircuitSettings): CircuitSettings => ({
  openAfter: Math.min(one.openAfter, other.openAfter),
  halfOpenAfterMs: Math.max(one.halfOpenAfterMs, other.halfOpenAfterMs),
  maxTtftMs: Math.min(one.maxTtftMs, other.maxTtftMs),
});
