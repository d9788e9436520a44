import type { IncomingHttpHeaders } from 'node:http';
import type { Refusal } from '../shared/errors.ts';
import { HEADER } from '../shared/headers.ts';
import type { Call } from './admit/call.ts';
import { type AttemptRecords, toldFacts } from './attempt-records.ts';
import type { Facts } from './audit/records.ts';
import type { Endpoint } from './endpoints/endpoint.ts';
import { headerReader } from './endpoints/header-reader.ts';
import type { Answer } from './forward/answer.ts';
import type { Gateway } from './gateway.ts';
import { type Evidence, weigh } from './policy/evidence.ts';
import type { Standpoint } from './policy/standing.ts';
import { sendRefusal } from './reply.ts';

const MISPLACED = 'gave evidence of a region outside the policy';

/** Said of an endpoint that may well be where it should, and does not show it: no fault of its health. */
const TOO_WEAK = 'its answer did not show its region as well as the policy asks';

/** What the caller is told instead of an answer that came from a wrong place. */
export function violationOf({ headers }: Call): Refusal {
  const policy = headers[HEADER.policy];
  return { code: 'region_violation', ...(policy !== undefined && { policy }) };
}

/** What of an answer, or of a failure, may say where it was made. */
export interface Seen {
  readonly headers?: IncomingHttpHeaders;
  readonly regions?: readonly string[];
}

export const seenIn = ({ headers, body: { regions } }: Answer): Seen => ({ headers, regions });

/** What an answer has said so far of where it was made. */
export const evidenceIn = (
  records: AttemptRecords,
  { headers = {}, regions = [] }: Seen,
  standpoint: Standpoint,
): Evidence =>
  weigh(records.endpoint, { header: headerReader(headers), body: regions }, records.workload, standpoint);

/** Ends a call whose answer came from a wrong place, or does not show that it did not: nothing of it goes out. */
export async function withhold(
  gateway: Gateway,
  call: Call,
  records: AttemptRecords,
  evidence: Evidence,
  observed: Partial<Facts>,
): Promise<undefined> {
  const { endpoint } = records;
  const violation = violationOf(call);
  call.headers[HEADER.endpoint] = endpoint.id;
  if (evidence.finding === 'misplaced') await quarantine(gateway, endpoint, evidence);
  else gateway.logger.error({ endpoint: endpoint.id }, `region violation: ${TOO_WEAK}`);
  await records.append('violation', { ...observed, ...evidence.facts, ...toldFacts(violation) });
  sendRefusal(call, violation, 'failed');
}

/**
 * Takes the endpoint out for every tenant of the zone until a person puts it back: for the next call as soon as
 * this is called, durably once it resolves.
 */
function quarantine({ health, logger }: Gateway, { id }: Endpoint, { facts }: Evidence): Promise<void> {
  const { serving_region: region, region_source: source } = facts;
  const evidence = region !== undefined && source !== undefined ? { region, source } : undefined;
  health.circuits.quarantine(id, MISPLACED, evidence);
  logger.error({ endpoint: id, region, source }, 'region violation: the endpoint is quarantined');
  // Where it cannot be kept now it is tried again, and the record of the violation tells of it meanwhile.
  return health.kept().catch(() => undefined);
}

/** Weighs what an answer says of its place while it goes out, as some say it at their end alone. */
export class EvidenceWatch {
  readonly #gateway: Gateway;
  readonly #records: AttemptRecords;
  readonly #answer: Answer;
  readonly #standpoint: Standpoint;
  #evidence: Evidence;
  #weighed: number;
  #kept: Promise<void> | undefined;

  constructor(
    gateway: Gateway,
    { records, answer }: { readonly records: AttemptRecords; readonly answer: Answer },
    standpoint: Standpoint,
  ) {
    this.#gateway = gateway;
    this.#records = records;
    this.#answer = answer;
    this.#standpoint = standpoint;
    this.#weighed = answer.body.regions.length;
    this.#evidence = evidenceIn(records, seenIn(answer), standpoint);
  }

  get evidence(): Evidence {
    return this.#evidence;
  }

  /**
   * Whether what has been read may go out. To be asked before it does, so that no call that its caller makes
   * after it meets the endpoint.
   */
  allows(): boolean {
    const { body } = this.#answer;
    if (body.regions.length === this.#weighed) return this.#kept === undefined;
    this.#weighed = body.regions.length;
    this.#evidence = evidenceIn(this.#records, seenIn(this.#answer), this.#standpoint);
    if (this.#evidence.finding !== 'misplaced') return true;
    this.#kept = quarantine(this.#gateway, this.#records.endpoint, this.#evidence);
    return false;
  }

  /** Resolves once what was found is durable. */
  async kept(): Promise<void> {
    await this.#kept;
  }
}
