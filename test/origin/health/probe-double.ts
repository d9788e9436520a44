import type { IncomingHttpHeaders } from 'node:http';
import type { Evidence } from '../../../origin/health/circuit-rule.ts';
import type { Departure } from '../../../origin/health/departure.ts';
import type { ProbeCall, ProbeResponse } from '../../../origin/health/probe.ts';
import type { ProbeTarget } from '../../../origin/health/probe-plan.ts';
import type { ProbeRequest } from '../../../origin/health/probe-request.ts';
import { ok, type Result } from '../../../shared/result.ts';

interface Sent {
  readonly endpoint: string;
  readonly request: ProbeRequest;
  readonly signal: AbortSignal;
}

export type Answer = () => Promise<Result<ProbeResponse, string>>;

export const target = (endpoint: string, more: Partial<ProbeTarget> = {}): ProbeTarget => ({
  endpoint,
  workload: 'chat',
  api: 'openai',
  model: 'a-model-20260101',
  tokens: 16,
  tokensMember: 'max_tokens',
  intervalMs: 10_000,
  ...more,
});

/** An answer of this status and body; chunks, if need be without an end. */
export function answer(
  status: number,
  body: unknown = {},
  headers: IncomingHttpHeaders = {},
  read: { chunks: number } = { chunks: 0 },
): Answer {
  const chunks = Array.isArray(body) ? body : [JSON.stringify(body)];
  async function* bytes() {
    for (const chunk of chunks) {
      read.chunks += 1;
      yield Buffer.from(chunk);
    }
  }
  return async () => ok({ status, headers, body: bytes() });
}

export const chat = (finish_reason: string | null = 'stop', content: string | null = 'ok') => ({
  choices: [{ index: 0, finish_reason, message: { role: 'assistant', content } }],
  usage: { prompt_tokens: 9, completion_tokens: 3 },
});

/** What a test has in place of the network: it says how each probe is answered, and lists what was sent. */
export class ProbeDouble implements ProbeCall {
  readonly sent: Sent[] = [];
  answer: Answer = answer(200, chat());
  evidence: Evidence | undefined;
  /** Whether a connection takes the request at once, or never. */
  departs = true;

  async send({ endpoint }: ProbeTarget, request: ProbeRequest, departure: Departure, signal: AbortSignal) {
    this.sent.push({ endpoint, request, signal });
    if (this.departs && departure.allowed()) departure.left();
    return await this.answer();
  }

  misplaced(): Evidence | undefined {
    return this.evidence;
  }
}
