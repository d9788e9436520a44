import type { Refusal } from '../shared/errors.ts';
import { HEADER } from '../shared/headers.ts';
import type { ModelRoute } from '../shared/routes.ts';
import { type Admitted, admit } from './admit/admit.ts';
import { readBody } from './admit/body.ts';
import type { Call } from './admit/call.ts';
import { idempotencyHash } from './admit/under-way.ts';
import { readWorkload } from './admit/workload.ts';
import { endedOnRecord } from './attempt-records.ts';
import { tryCandidates } from './attempts.ts';
import { type Entered, STOPPING } from './course.ts';
import { type Answered, deliver } from './deliver.ts';
import type { Gateway } from './gateway.ts';
import { nothingLeft, refused } from './give-up.ts';
import { resolve } from './policy/resolve.ts';
import type { Standpoint } from './policy/standing.ts';
import { refuse } from './refuse.ts';

const CUT_SHORT: Refusal = { code: 'body_invalid', why: 'it ended before it was whole' };

/**
 * One model call, in reading order: admit → read → resolve → record → forward → observe → record → receipt.
 * Every way out leaves a record, and nothing is forwarded before its `pending` is durable.
 */
export async function exchange(gateway: Gateway, call: Call, route: ModelRoute): Promise<void> {
  const admitted = await admit(call, gateway.admission);
  if (!admitted.ok) return refuse(gateway, call, admitted.error);

  const idempotencyKey = call.header(HEADER.idempotencyKey);
  if (idempotencyKey !== undefined) call.know({ idempotency_key_sha256: idempotencyHash(idempotencyKey) });
  const entered = gateway.underWay.enter(admitted.value.tenant.id, idempotencyKey);
  if (!entered.ok) return refuse(gateway, call, entered.error);
  // With its last byte the caller has been served, and may send the next call before this one's end is on record.
  call.outgoing.once('finish', entered.value);
  try {
    await serve({ gateway, call, route, standpoint: standpointOf(gateway, call, admitted.value) });
  } finally {
    entered.value();
  }
}

function standpointOf(gateway: Gateway, call: Call, admitted: Admitted): Standpoint {
  const standpoint = gateway.standpointOf(admitted);
  const { name, version, sha256, label } = standpoint.policy;
  call.know({ policy: name, policy_version: version, policy_sha256: sha256 });
  call.headers[HEADER.policy] = label;
  return standpoint;
}

async function serve(entered: Entered): Promise<void> {
  // The body is in reach of this one call alone, so that its memory is free while the answer runs.
  const answered = await readAndForward(entered);
  if (answered === undefined) return;
  const { gateway, call, standpoint } = entered;
  try {
    await endedOnRecord(call, answered.records, () => deliver(gateway, call, standpoint, answered));
  } finally {
    // A ticket counts once, so this is for ways out that told nothing of the endpoint.
    answered.tell({ kind: 'gone' });
  }
}

/** Undefined where the call has been refused, or has failed, and has been told so. */
async function readAndForward(entered: Entered): Promise<Answered | undefined> {
  const { gateway, call, route } = entered;
  const body = await call.waitFor(gateway.clock, readBody(call, gateway.bodies));
  if (!body.ok) {
    if (body.error !== 'gone') return await refused(entered, body.error);
    call.know({ actor: call.stoppedBy ?? 'client' });
    return await refused(entered, unread(call));
  }
  try {
    const { bytes } = body.value;
    call.know({ request_bytes: bytes.length });
    const named = call.header(HEADER.workload);
    const read = await readWorkload(route.body, call.header('content-type'), bytes, named);
    if (!read.ok) return await refused(entered, read.error);

    const resolved = resolveFor(entered, read.value.workload);
    if (!resolved.ok) return await nothingLeft(entered, read.value, resolved.error, false);
    return await tryCandidates(entered, read.value, resolved.value);
  } finally {
    body.value.release();
  }
}

const unread = (call: Call): Refusal => (call.stoppedBy === 'gateway' ? STOPPING : CUT_SHORT);

function resolveFor({ gateway, call, route, standpoint }: Entered, workload: string) {
  const resolved = resolve({
    ...standpoint,
    workload,
    api: route.api,
    registry: gateway.config.registry,
    health: gateway.health.circuits.snapshot(standpoint.tenant),
    now: gateway.clock.now(),
  });
  // Only a name that the policy knows is recorded: any other is the caller's own words.
  if (resolved.ok || resolved.error.code !== 'workload_unknown') call.know({ workload });
  if (resolved.ok) {
    const { class: class_, unpinned } = resolved.value;
    call.know({ class: class_, ...(unpinned !== undefined && { unpinned }) });
  }
  return resolved;
}
