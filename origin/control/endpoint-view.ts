import { z } from 'zod';
import { REGION_SOURCES } from '../../shared/record.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { countryOf } from '../endpoints/location.ts';
import type { Circuit } from '../health/circuit.ts';
import { CIRCUIT_KINDS } from '../health/circuit-kinds.ts';
import type { EndpointState } from '../health/orders.ts';
import type { ProbeCost } from '../health/prober.ts';

const time = z.iso.datetime({ precision: 3 }).nullable();
const text = z.string().nullable();
const count = z.int().nonnegative();

/** One endpoint as operators see it. Times are RFC 3339 in UTC. */
export const endpointViewSchema = z.object({
  id: z.string(),
  provider: z.string(),
  api: z.string(),
  region: text,
  /** ISO 3166-1 alpha-2, as the catalogue has it. */
  country: text,
  facility: text,
  deployment: z.string(),
  workloads: z.array(z.string()),
  state: z.enum(CIRCUIT_KINDS),
  /** Whether calls go there at this moment. */
  usable: z.boolean(),
  /** Why it is in this state, in words; null where there is nothing to tell. */
  reason: text,
  /** Since when it is in this state; null where it has never been in another. */
  since: time,
  /** When it is tried again, or the order over it ends; null where nothing is due, or a person has to act. */
  next: time,
  ordered_by: text,
  /** Where it was seen, outside the regions of its policy. */
  evidence: z.object({ region: z.string(), source: z.enum(REGION_SOURCES) }).nullable(),
  /** What its health probes have cost since the origin started; `uncounted` gave no count of their tokens. */
  probes: z.object({ count, input_tokens: count, output_tokens: count, uncounted: count }),
});

export type EndpointView = z.infer<typeof endpointViewSchema>;

/** The answer of `GET /admin/endpoints`. */
export const endpointListSchema = z.object({
  jurisdiction: z.string(),
  endpoints: z.array(endpointViewSchema),
});

/** What is shown of an endpoint: the registry's word, its circuit, and what its probes have cost. */
export function endpointView(
  endpoint: Endpoint,
  { circuit, health }: EndpointState,
  cost: ProbeCost | undefined,
): EndpointView {
  const { probes = 0, inputTokens = 0, outputTokens = 0, uncounted = 0 } = cost ?? {};
  return {
    id: endpoint.id,
    provider: endpoint.provider,
    api: endpoint.api,
    region: endpoint.region ?? null,
    country: countryOf(endpoint) ?? null,
    facility: endpoint.facility ?? null,
    deployment: endpoint.deployment,
    workloads: Object.keys(endpoint.models),
    state: circuit.kind,
    usable: health.usable,
    reason: reasonOf(circuit),
    since: circuit.since === 0 ? null : at(circuit.since),
    next: at(health.usable ? endOf(circuit) : health.retryAt),
    ordered_by: 'by' in circuit ? circuit.by : null,
    evidence: (circuit.kind === 'quarantined' && circuit.evidence) || null,
    probes: { count: probes, input_tokens: inputTokens, output_tokens: outputTokens, uncounted },
  };
}

/** For operators, and so with their own words, which callers are not shown. */
function reasonOf(circuit: Circuit): string | null {
  switch (circuit.kind) {
    case 'open':
    case 'forced_open':
    case 'forced_closed':
    case 'quarantined':
      return circuit.why;
    case 'half_open':
      return circuit.probe === 'taken' ? 'its one probe is under way' : 'waits for one probe to succeed';
    case 'closed':
      if (circuit.coolUntil !== undefined) return 'busy: it asked to be left alone for a while';
      return circuit.failures === 0 ? null : `failures in a row: ${circuit.failures}`;
  }
}

const endOf = (circuit: Circuit): number | undefined =>
  circuit.kind === 'forced_closed' ? circuit.until : undefined;

const at = (ms: number | undefined): string | null =>
  ms === undefined || !Number.isFinite(ms) ? null : new Date(ms).toISOString();
