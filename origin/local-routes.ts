import type { Refusal } from '../shared/errors.ts';
import { HEADER } from '../shared/headers.ts';
import { pathOf } from '../shared/routes.ts';
import { admit, refusalOf } from './admit/admit.ts';
import type { Call } from './admit/call.ts';
import type { Gateway } from './gateway.ts';
import { workloadsFor } from './policy/resolve.ts';
import { refuse } from './refuse.ts';
import { send, sendRefusal } from './reply.ts';

const NO_SUCH_WORKLOAD: Refusal = { code: 'workload_unknown', why: 'not_in_policy' };

/** `GET /v1/models`: the workloads that this tenant may call, in the shape of the caller's API. */
export async function listModels(gateway: Gateway, call: Call): Promise<void> {
  const admitted = await admit(call, gateway.admission);
  if (!admitted.ok) return refuse(gateway, call, admitted.error);
  const standpoint = gateway.standpointOf(admitted.value);
  call.headers[HEADER.policy] = standpoint.policy.label;
  const { registry } = gateway.config;
  const names = workloadsFor({ ...standpoint, registry, api: call.api });
  if (tailOf(call, '/v1/models') === '') return send(call, 200, 'served', modelList(call, names));
  const one = decoded(tailOf(call, '/v1/models'));
  if (one !== undefined && names.includes(one)) return send(call, 200, 'served', model(call, one));
  return refuse(gateway, call, NO_SUCH_WORKLOAD);
}

/** The part of the path behind a route's name, as it was sent; empty where there is none. */
export const tailOf = ({ target }: Call, route: string): string => pathOf(target).slice(route.length + 1);

/** Undefined where the percent signs are no encoding of UTF-8. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** A workload has no date of its own; the APIs want one. */
const NO_DATE = '1970-01-01T00:00:00Z';

const model = (call: Call, id: string): object =>
  call.api === 'anthropic'
    ? { type: 'model', id, display_name: id, created_at: NO_DATE }
    : { id, object: 'model', created: 0, owned_by: 'residency-gateway' };

function modelList(call: Call, names: readonly string[]): object {
  const data = names.map((name) => model(call, name));
  return call.api === 'anthropic'
    ? { data, has_more: false, first_id: names[0] ?? null, last_id: names.at(-1) ?? null }
    : { object: 'list', data };
}

/** `POST /internal/refusals`: the edge reports that it refused a request; the record is made here. */
export async function recordRefusal(gateway: Gateway, call: Call): Promise<void> {
  const report = await gateway.admission.assertions.refusal({
    token: call.header(HEADER.assertion),
    method: call.incoming.method ?? '',
    target: call.target,
  });
  if (!report.ok) {
    // The edge sends a report again when it did not hear that it arrived.
    if (report.error === 'reused') return send(call, 200, 'served', { status: 'recorded' });
    // No report at all, but perhaps a caller's request that the edge has passed on as it passes everything on.
    if (report.error === 'malformed') return unknownRoute(gateway, call);
    gateway.admission.rejected(report.error);
    return refuse(gateway, call, refusalOf(report.error));
  }
  const { rid, sub, colo, refusal } = report.value;
  const record = gateway.records.make('refused', {
    jurisdiction: gateway.config.jurisdiction,
    request_id: rid,
    code: refusal.code,
    status: refusal.status,
    actor: 'edge',
    ...(sub !== undefined && { tenant: sub }),
    ...(colo !== undefined && { colo }),
    ...(refusal.route !== undefined && { route: refusal.route }),
    ...(refusal.jurisdiction_claimed !== undefined && { jurisdiction_claimed: refusal.jurisdiction_claimed }),
  });
  const kept = await gateway.ledger.append(record);
  if (kept.ok) return send(call, 200, 'served', { status: 'recorded' });
  // The ledger keeps it and goes on trying; the edge's next try finds the report used, and that is its answer.
  return sendRefusal(call, { code: 'ledger_unavailable' });
}

/** Anything else: admitted like every call, so that a stranger learns nothing of the routes, then refused. */
export async function unknownRoute(gateway: Gateway, call: Call): Promise<void> {
  const admitted = await admit(call, gateway.admission);
  return refuse(gateway, call, admitted.ok ? { code: 'route_unknown' } : admitted.error);
}
