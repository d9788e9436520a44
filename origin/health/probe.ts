import type { IncomingHttpHeaders } from 'node:http';
import type { Result } from '../../shared/result.ts';
import type { Clock } from '../clock.ts';
import type { Evidence } from './circuit-rule.ts';
import type { Departure } from './departure.ts';
import { type Outcome, outcomeOfStatus } from './outcome.ts';
import { type Completion, readCompletion, readJson } from './probe-answer.ts';
import type { ProbeTarget } from './probe-plan.ts';
import { type ProbeRequest, probeRequest } from './probe-request.ts';

/** Time that an answer may take for each of its tokens after the first, in ms: the slowest engines that count. */
const TOKEN_MS = 50;

/** How long a probe may take beyond what is slow already, in milliseconds. */
const MARGIN_MS = 5_000;

export interface ProbeResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Decoded. Not read to the end, nor at all where the status says enough. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** The call of a probe, as the world makes it. */
export interface ProbeCall {
  /**
   * Sends a request to the endpoint of a target, with that endpoint's credential; where there is no answer, says
   * why in words that callers may read, never the connection's own. It MUST follow no redirect, MUST ask
   * `departure` before the first byte and tell it of it, and MUST let go of the connection once `signal` is
   * aborted, which happens after every probe.
   */
  send(
    target: ProbeTarget,
    request: ProbeRequest,
    departure: Departure,
    signal: AbortSignal,
  ): Promise<Result<ProbeResponse, string>>;
  /**
   * Evidence that an answer came from outside the policy's regions, if it gives any. `json` is its body,
   * undefined as long as nothing of it is known.
   */
  misplaced(target: ProbeTarget, headers: IncomingHttpHeaders, json: unknown): Evidence | undefined;
}

/** What a probe found, and what it cost. */
export interface ProbeResult {
  readonly outcome: Outcome;
  readonly ms: number;
  readonly evidence?: Evidence;
  /** Status with which the endpoint refused the probe itself: it is alive, but this is no way to ask it. */
  readonly refused?: number;
  /** As the endpoint counted them, null where it gave no count. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

/** Which endpoint is asked, by what means, and how long it may take. */
export interface ProbeSetup {
  readonly target: ProbeTarget;
  readonly call: ProbeCall;
  readonly clock: Clock;
  readonly maxTtftMs: number;
  readonly departure: Departure;
}

type Found = Omit<ProbeResult, 'ms'>;

const NEUTRAL: Outcome = { kind: 'neutral' };

const found = (outcome: Outcome): Found => ({ outcome, inputTokens: null, outputTokens: null });
const failing = (why: string): Outcome => ({ kind: 'failure', why: `probe failing: ${why}` });

/** One synthetic completion. Never rejects, and ends within its limit whatever the call does. */
export async function probe(setup: ProbeSetup, stopped: AbortSignal): Promise<ProbeResult> {
  const { target, clock, maxTtftMs, departure } = setup;
  const limitMs = maxTtftMs + target.tokens * TOKEN_MS + MARGIN_MS;
  const startedAt = clock.monotonic();
  const first = Promise.withResolvers<Found>();
  const within = (outcome: Outcome) => clock.setTimeout(() => first.resolve(found(outcome)), limitMs);
  // What never left us says nothing of the endpoint, and what did has its whole time from then on.
  let cancel = within(NEUTRAL);
  departure.onceLeft(() => {
    cancel();
    cancel = within(failing(`no answer within ${limitMs} ms`));
  });
  const stop = (): void => first.resolve(found(NEUTRAL));
  stopped.addEventListener('abort', stop);
  const done = new AbortController();
  // A cause's own words can hold hosts, and hosts can hold keys.
  ask(setup, done.signal).then(first.resolve, () => first.resolve(found(failing('its answer broke off'))));
  try {
    const result = await first.promise;
    return { ...result, ms: clock.monotonic() - startedAt };
  } finally {
    departure.onceLeft(() => undefined);
    cancel();
    stopped.removeEventListener('abort', stop);
    done.abort();
  }
}

async function ask(setup: ProbeSetup, signal: AbortSignal): Promise<Found> {
  const { target, call, clock, maxTtftMs, departure } = setup;
  const sent = await call.send(target, probeRequest(target), departure, signal);
  if (departure.withdrawn !== undefined) return found(NEUTRAL);
  if (!sent.ok) return found(failing(sent.error));
  const { status, headers, body } = sent.value;
  // A body that never ends must not keep back what the head says.
  const misplaced = call.misplaced(target, headers, undefined);
  if (misplaced !== undefined) return { ...found(NEUTRAL), evidence: misplaced };
  const accepted = status >= 200 && status < 300;
  const json = accepted ? await readJson(body) : undefined;
  const completion = accepted ? readCompletion(target.api, json) : undefined;
  const outcome = accepted
    ? judge(completion, departure.elapsedMs, target, maxTtftMs)
    : refusal(status, headers, clock.now());
  const evidence = call.misplaced(target, headers, json);
  return {
    outcome,
    ...(evidence && { evidence }),
    ...(outcome.kind === 'neutral' && { refused: status }),
    inputTokens: completion?.inputTokens ?? null,
    outputTokens: completion?.outputTokens ?? null,
  };
}

/** A plain answer shows no first token, so the time that its other tokens may take is taken off. */
function judge(
  completion: Completion | undefined,
  ms: number,
  { tokens }: ProbeTarget,
  maxTtftMs: number,
): Outcome {
  if (!completion?.alive) return failing('its answer is no completion');
  const others = Math.min(completion.outputTokens ?? tokens, tokens) - 1;
  const ttftMs = ms - Math.max(others, 0) * TOKEN_MS;
  return ttftMs > maxTtftMs ? { kind: 'slow', ttftMs, maxTtftMs, reckoned: true } : { kind: 'success' };
}

function refusal(status: number, headers: IncomingHttpHeaders, now: number): Outcome {
  const outcome = outcomeOfStatus(status, headers, now);
  return 'why' in outcome ? { ...outcome, why: `probe failing: ${outcome.why}` } : outcome;
}
