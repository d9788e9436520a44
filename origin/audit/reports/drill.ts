import { type PolicyInForce, policyLabel, workloadOf } from '../../../shared/policy-in-force.ts';
import { type AuditRecord, END_KINDS } from '../../../shared/record.ts';
import { carriesReceipt } from '../receipts.ts';
import type { Evidence } from './evidence.ts';
import { GameDays } from './game-days.ts';
import { endpointOutside, endpointsOf, regionOutside } from './outside.ts';

/** Request ids that are named of each finding at most. */
const NAMED_MAX = 20;

/** How long after an endpoint was forced open a call can still be on its way there, in ms. */
const UNDER_WAY_MS = 1_000;

/** Things that were found, counted, and the first of them named by request id. */
export class Finding {
  readonly request_ids: string[] = [];
  count = 0;

  add({ request_id: id }: AuditRecord): void {
    this.count += 1;
    if (id !== undefined && this.request_ids.length < NAMED_MAX) this.request_ids.push(id);
  }
}

/** What the calls of one tenant came to while endpoints were forced open for it. */
export class Drill {
  readonly receipts = new Finding();
  /** Receipts by region and endpoint. */
  readonly places = new Map<string, { region: string; endpoint: string; count: number }>();
  readonly graphs = new Map<string, { workload: string; policy: string; endpoints: readonly string[] }>();
  /** Attempts that the graph, or what the policy allows, does not have; with the first reason. */
  readonly outside = new Finding();
  outsideWhy: string | undefined;
  /** Streams, and those whose first token came too late. */
  readonly streams = new Finding();
  readonly late = new Finding();
  slowest: { readonly ttft_ms: number; readonly max_ttft_ms: number } | undefined;
  /** Calls that were refused as no endpoint was left. */
  readonly refused = new Finding();
  /** Answers of an endpoint that was forced open. */
  readonly leaked = new Finding();
  readonly days: GameDays;
  readonly #evidence: Evidence;
  readonly #tenant: string;
  readonly #outside = new Set<string>();
  /** When calls that are under way began. */
  readonly #begun = new Map<string, string>();

  constructor(evidence: Evidence, tenant: string) {
    this.#evidence = evidence;
    this.#tenant = tenant;
    this.days = new GameDays(tenant);
    const known = new GameDays(tenant);
    for (const record of evidence.records()) known.see(record);
    const isWhole = known.all.length === 0;
    for (const record of evidence.records()) this.#see(record, isWhole);
  }

  /** @param isWhole no game day is on record, so the window itself is looked at */
  #see(record: AuditRecord, isWhole: boolean): void {
    this.days.see(record);
    if (record.tenant !== this.#tenant || !(isWhole || this.days.isOn(record.at))) return;
    if (record.kind === 'pending') this.#begun.set(record.id, record.at);
    if (record.code === 'no_compliant_endpoint') this.refused.add(record);
    const policy = this.#evidence.policyOf(record);
    if (policy === undefined || record.endpoint === undefined) return;
    this.#place(record, policy);
    if (carriesReceipt(record)) this.#answered(record, policy);
    if (END_KINDS.some((end) => end === record.kind)) this.#begun.delete(record.pending_id ?? '');
  }

  #place(record: AuditRecord, policy: PolicyInForce): void {
    const isReceipt = carriesReceipt(record);
    if (!isReceipt && record.kind !== 'pending' && record.kind !== 'violation') return;
    const why = endpointOutside(record, policy) ?? regionOutside(record, policy, this.#evidence.declared);
    // An attempt counts once, whatever of it is outside.
    const attempt = record.kind === 'pending' ? record.id : (record.pending_id ?? record.id);
    if (why === undefined || this.#outside.has(attempt)) return;
    this.#outside.add(attempt);
    this.outsideWhy ??= why;
    this.outside.add(record);
  }

  #answered(record: AuditRecord, policy: PolicyInForce): void {
    const { endpoint = '', workload = '', serving_region, provider_region } = record;
    const region = serving_region ?? provider_region ?? 'not labelled';
    const key = `${region} ${endpoint}`;
    const place = this.places.get(key) ?? { region, endpoint, count: 0 };
    this.places.set(key, { ...place, count: place.count + 1 });
    this.receipts.add(record);
    const label = policyLabel(policy.document);
    const endpoints = endpointsOf(policy.document, workload);
    this.graphs.set(`${workload} ${label}`, { workload, policy: label, endpoints });
    this.#firstToken(record, policy);
    if (this.#isForcedOpen(endpoint, record)) this.leaked.add(record);
  }

  #firstToken(record: AuditRecord, { document }: PolicyInForce): void {
    const { streamed, ttft_ms, workload = '' } = record;
    const limit = workloadOf(document, workload)?.health.max_ttft_ms;
    if (!streamed || ttft_ms === undefined || limit === undefined) return;
    this.streams.add(record);
    if (ttft_ms > limit) this.late.add(record);
    if (ttft_ms >= (this.slowest?.ttft_ms ?? 0)) this.slowest = { ttft_ms, max_ttft_ms: limit };
  }

  /** Whether an endpoint was forced open when the attempt began, and not only while it was under way. */
  #isForcedOpen(endpoint: string, { pending_id = '', at }: AuditRecord): boolean {
    const begun = this.#begun.get(pending_id) ?? at;
    const since = this.days.forcedSince(endpoint, begun);
    return since !== undefined && Date.parse(begun) - Date.parse(since) > UNDER_WAY_MS;
  }
}
