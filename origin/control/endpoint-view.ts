import { z } from 'zod';
import { countryOf } from '../../shared/catalogue.ts';
import { REGION_SOURCES } from '../../shared/record.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Circuit } from '../health/circuit.ts';
import { CIRCUIT_KINDS } from '../health/circuit-kinds.ts';
import type { EndpointState } from '../health/orders.ts';
import type { ProbeCost } from '../health/prober.ts';
import { RECENT_MS, type Recent } from '../health/recent.ts';
import { HEALTH_WORDS, healthWord, lastTried, outSince, reasonOf } from './endpoint-words.ts';

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
  /** Those that have a model there. */
  workloads: z.array(z.string()),
  /** Whether a loaded policy ever lets it serve one of them, whatever its health. */
  allowed: z.boolean(),
  /** Why none does, in words; null where one does. */
  never: text,
  health: z.enum(HEALTH_WORDS),
  state: z.enum(CIRCUIT_KINDS),
  /** Whether calls can go there at this moment: it is allowed, and its health lets them through. */
  usable: z.boolean(),
  /** Why it is in this state, in words; null where there is nothing to tell. */
  reason: text,
  /** Since when it is in this state; null where it has never been in another. */
  since: time,
  /** Since when it is out without a break, however often it was tried meanwhile; null where it is not out. */
  out_since: time,
  /** When a call or probe last ended there, and told something; null where this is not known. */
  last_tried: time,
  /** When it is tried again, or the order over it ends; null where nothing is due, or a person has to act. */
  next: time,
  ordered_by: text,
  /** Where it was seen, outside the regions of its policy. */
  evidence: z.object({ region: z.string(), source: z.enum(REGION_SOURCES) }).nullable(),
  /** Calls and probes of the last `minutes` that say something of it, how many of them failed, and their share. */
  recent: z.object({
    minutes: count,
    outcomes: count,
    failures: count,
    error_rate: z.number().min(0).max(1).nullable(),
    /** Milliseconds from an attempt to the first content of a stream: the median and the last one. */
    ttft_ms: z.object({ typical: z.number(), last: z.number() }).nullable(),
  }),
  /** What its health probes have cost since the origin started; `uncounted` gave no count of their tokens. */
  probes: z.object({ count, input_tokens: count, output_tokens: count, uncounted: count }),
});

export type EndpointView = z.infer<typeof endpointViewSchema>;

/** The answer of `GET /admin/endpoints`. */
export const endpointListSchema = z.object({
  jurisdiction: z.string(),
  endpoints: z.array(endpointViewSchema),
});

/** What is known of an endpoint beside the registry's word. */
export interface Known {
  /** Why no loaded policy ever lets it serve, in words; undefined where one does. */
  readonly never: string | undefined;
  readonly state: EndpointState;
  readonly recent: Recent;
  readonly cost: ProbeCost | undefined;
}

/** What is shown of an endpoint: the registry's word, its circuit, how it did, and what its probes have cost. */
export function endpointView(
  endpoint: Endpoint,
  { never, state: { circuit, health }, recent, cost }: Known,
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
    allowed: never === undefined,
    never: never ?? null,
    health: healthWord(circuit, health.usable),
    state: circuit.kind,
    usable: health.usable && never === undefined,
    reason: reasonOf(circuit),
    since: circuit.since === 0 ? null : at(circuit.since),
    out_since: at(outSince(circuit)),
    last_tried: at(lastTried(circuit, recent.triedAt)),
    next: at(health.usable ? endOf(circuit) : health.retryAt),
    ordered_by: 'by' in circuit ? circuit.by : null,
    evidence: (circuit.kind === 'quarantined' && circuit.evidence) || null,
    recent: recentView(recent),
    probes: { count: probes, input_tokens: inputTokens, output_tokens: outputTokens, uncounted },
  };
}

const recentView = ({ counted, failed, firstToken }: Recent): EndpointView['recent'] => ({
  minutes: RECENT_MS / 60_000,
  outcomes: counted,
  failures: failed,
  error_rate: counted === 0 ? null : failed / counted,
  ttft_ms: firstToken === undefined ? null : { typical: firstToken.typicalMs, last: firstToken.lastMs },
});

const endOf = (circuit: Circuit): number | undefined =>
  circuit.kind === 'forced_closed' ? circuit.until : undefined;

const at = (ms: number | undefined): string | null =>
  ms === undefined || !Number.isFinite(ms) ? null : new Date(ms).toISOString();
