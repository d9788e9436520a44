import type { Refusal, RejectedCandidate } from '../shared/errors.ts';
import { HEADER } from '../shared/headers.ts';
import type { ModelRoute } from '../shared/routes.ts';
import { type Admitted, admit } from './admit/admit.ts';
import { readBody } from './admit/body.ts';
import type { Call } from './admit/call.ts';
import { idempotencyHash } from './admit/under-way.ts';
import { type ReadBody, readWorkload } from './admit/workload.ts';
import { AttemptRecords, toldFacts } from './attempt-records.ts';
import { deliver } from './deliver.ts';
import { attempt } from './forward/attempt.ts';
import { retryAfterSeconds } from './forward/retry-after.ts';
import type { Gateway } from './gateway.ts';
import { type Resolution, resolve } from './policy/resolve.ts';
import type { Standpoint } from './policy/standing.ts';

import { refuse } from './refuse.ts';
import { sendRefusal } from './reply.ts';

/** Seconds after which an endpoint that failed without a word may be tried again. */
const SOON_S = 1;

const CUT_SHORT: Refusal = { code: 'body_invalid', why: 'it ended before it was whole' };
const STOPPING: Refusal = { code: 'gateway_busy', limit: 'drain_ms' };

/**
 * One model call, in reading order: admit → read → resolve → record → forward → observe → record → receipt.
 * Every way out leaves a record, and nothing is forwarded before its `pending` is durable.
 */
export async function exchange(gateway: Gateway, call: Call, route: ModelRoute): Promise<void> {
  const admitted = await admit(call, gateway.admission);
  if (!admitted.ok) return refuse(gateway, call, admitted.error);

  const idempotencyKey = call.header(HEADER.idempotencyKey);
  const entered = gateway.underWay.enter(admitted.value.tenant.id, idempotencyKey);
  if (!entered.ok) return refuse(gateway, call, entered.error);
  if (idempotencyKey !== undefined) call.know({ idempotency_key_sha256: idempotencyHash(idempotencyKey) });
  try {
    await serve(gateway, call, route, admitted.value);
  } finally {
    entered.value();
  }
}

async function serve(gateway: Gateway, call: Call, route: ModelRoute, admitted: Admitted): Promise<void> {
  const standpoint = gateway.standpointOf(admitted);
  const { policy } = standpoint;
  call.know({ policy: policy.name, policy_version: policy.version, policy_sha256: policy.sha256 });
  call.headers[HEADER.policy] = policy.label;

  call.inviteBody();
  const body = await readBody(call.incoming, gateway.bodies);
  if (!body.ok) return refuse(gateway, call, body.error === 'gone' ? CUT_SHORT : body.error);
  try {
    call.know({ request_bytes: body.value.bytes.length });
    const read = readWorkload(
      route.body,
      call.header('content-type'),
      body.value.bytes,
      call.header(HEADER.workload),
    );
    if (!read.ok) return await refuse(gateway, call, read.error);

    const resolved = resolve({
      ...standpoint,
      workload: read.value.workload,
      api: route.api,
      registry: gateway.config.registry,
      health: gateway.health(),
      now: gateway.clock.now(),
    });
    // Only a name that the policy knows is recorded: any other is the caller's own words.
    if (resolved.ok || resolved.error.code !== 'workload_unknown')
      call.know({ workload: read.value.workload });
    if (!resolved.ok) return await refuse(gateway, call, resolved.error);
    call.know({ class: resolved.value.class });
    await forward(gateway, call, route, standpoint, read.value, resolved.value, body.value.release);
  } finally {
    body.value.release();
  }
}

/** Tries the candidates in turn. Once content of one has gone out, there is no other. */
async function forward(
  gateway: Gateway,
  call: Call,
  route: ModelRoute,
  standpoint: Standpoint,
  body: ReadBody,
  resolution: Resolution,
  releaseBody: () => void,
): Promise<void> {
  const { clock, config } = gateway;
  const deadline = call.startedAt + config.limits.attempts_total_ms;
  const rejected: RejectedCandidate[] = [...resolution.rejected];
  const waits: number[] = [];
  for (const [index, candidate] of resolution.candidates.entries()) {
    const last = index === resolution.candidates.length - 1;
    const records = new AttemptRecords(gateway, call, candidate, index + 1, rejected);
    // Durable before a byte leaves: a crash after it shows as `abandoned`, never as a call nobody knows of.
    if (!(await records.pending())) return refuse(gateway, call, { code: 'ledger_unavailable' });

    const request = {
      route: route.path,
      headers: call.incoming.headers,
      body: body.withModel(candidate.model),
      stream: body.stream,
      gone: call.stopped,
      deadline,
    };
    const tried = await attempt(candidate, request, gateway.forwarder);
    if (tried.kind === 'answered') {
      releaseBody();
      return deliver(gateway, call, standpoint, records, tried.answer);
    }
    if (tried.kind === 'gone') {
      await records.append('interrupted', { actor: call.stoppedBy ?? 'client' });
      return sendRefusal(call, STOPPING, 'failed');
    }
    rejected.push({ endpoint: candidate.endpoint.id, rejected: tried.why });
    waits.push(retryAfterSeconds(tried.headers ?? {}, clock.now()) ?? SOON_S);
    const over = last || call.stopped.aborted || clock.now() >= deadline;
    const refusal: Refusal | undefined = over
      ? {
          code: 'no_compliant_endpoint',
          policy: standpoint.policy.label,
          candidates: rejected,
          retryAfter: Math.min(...waits),
        }
      : undefined;
    await records.append('failed', {
      ...(tried.status !== undefined && { upstream_status: tried.status }),
      ...(refusal && toldFacts(refusal)),
    });
    if (refusal) return sendRefusal(call, refusal, 'failed');
  }
}
