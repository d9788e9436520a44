/** Names of the headers that callers, edge and origin exchange. Lower case, as both runtimes report them. */
export const HEADER = {
  jurisdiction: 'x-jurisdiction',
  tenant: 'x-tenant-id',
  authorization: 'authorization',
  apiKey: 'x-api-key',
  requestId: 'x-request-id',
  workload: 'x-workload',
  idempotencyKey: 'idempotency-key',
  assertion: 'x-residency-assertion',
  residencyJurisdiction: 'x-residency-jurisdiction',
  outcome: 'x-residency-outcome',
  decidedBy: 'x-residency-decided-by',
  policy: 'x-residency-policy',
  endpoint: 'x-residency-endpoint',
  region: 'x-residency-region',
  regionSource: 'x-residency-region-source',
  attempts: 'x-residency-attempts',
  receipt: 'x-residency-receipt',
  estimate: 'x-residency-estimate',
  upstreamRequestId: 'x-upstream-request-id',
} as const;

/** Everything under this prefix is the gateway's own: what a client sends there is dropped at the edge. */
export const RESERVED_PREFIX = 'x-residency-';

/** Headers that belong to one connection and are never forwarded (RFC 9110 section 7.6.1, RFC 9112). */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** How a call ended, as `x-residency-outcome` says it. */
export type Outcome = 'served' | 'refused' | 'failed';
