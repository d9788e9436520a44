import type { AuditRecord } from '../record.ts';

/** Every kind of fault, and what it means. Forged, missing and not allowed are different things. */
export const FAULTS = {
  malformed: 'not of the form that the contract gives it',
  damaged: 'a file is not what the manifest or its name says',
  unexpected: 'something that has no place in a bundle',
  forged: 'a signature, a hash or a proof does not hold',
  unsigned: 'no key that you trust signed it',
  key_not_valid: 'signed by a key that was not valid at the time',
  other_log: 'of another log, zone or tenant than the rest',
  split_view: 'the log signed two different trees of one size',
  missing: 'something that must be there is not',
  changed: 'a record is not the one that stands in the log at its place',
  invented: 'a record does not stand in the log',
  moved: 'a record or a receipt stands where another belongs',
  duplicate: 'something stands twice',
  contradicts: 'a receipt says something else than its record',
  unwitnessed: 'fewer witnesses cosigned than you ask for',
  not_allowed: 'ran where the policy that it cites does not allow it',
  gap: 'checkpoints do not cover the whole window',
  unended: 'a call does not end exactly once',
  unfounded: 'an answer or an end without a `pending` before it',
  inconsistent: 'a checkpoint is not shown to continue the one before it',
} as const;
export type FaultKind = keyof typeof FAULTS;

/** Kinds that fail a run only where it is strict: what was signed holds, and says that something was wrong. */
const STRICT_ONLY: ReadonlySet<FaultKind> = new Set([
  'not_allowed',
  'gap',
  'unended',
  'unfounded',
  'inconsistent',
]);

/** What a fault is about, as far as that is known; of what is not proven it is the bundle's own word. */
export interface About {
  readonly request_id?: string | undefined;
  /** Id of the record. */
  readonly record?: string | undefined;
  /** Place in the log, 0-based. */
  readonly place?: number | undefined;
}

export interface Fault extends About {
  readonly fault: FaultKind;
  readonly reason: string;
  /** Whether it fails a strict run only. */
  readonly strict_only: boolean;
}

/** One call that was answered, as far as it is proven: its receipt is signed and its record stands in the log. */
export interface ProvenReceipt
  extends Pick<
    AuditRecord,
    | 'request_id'
    | 'tenant'
    | 'endpoint'
    | 'provider'
    | 'provider_region'
    | 'serving_region'
    | 'region_source'
    | 'facility'
    | 'workload'
    | 'attempt'
  > {
  readonly jurisdiction: string;
  /** `name@version`. */
  readonly policy: string;
  /** Id and time of the record. */
  readonly record: string;
  readonly at: string;
  /** Place in the log; missing where only the receipt's signature was there to be verified. */
  readonly place?: number;
}

/** What was found. Only what is proven is counted and listed beside the faults. */
export interface Report {
  readonly ok: boolean;
  readonly strict: boolean;
  readonly scope: 'log' | 'tenant' | 'call' | 'receipt' | 'proof';
  readonly log?: string;
  readonly jurisdiction?: string;
  readonly tenant?: string;
  /** The window, as the manifest claims it. */
  readonly window?: { readonly from: string; readonly to: string };
  /** Signed checkpoints: how many, and the first and last, each with the time that its signature attests. */
  readonly checkpoints: { readonly count: number; readonly first?: Head; readonly last?: Head };
  readonly records: { readonly proven: number; readonly pruned: number };
  readonly receipts: readonly ProvenReceipt[];
  readonly faults: readonly Fault[];
  /** Faults beyond those that are listed. */
  readonly more_faults: number;
}

export interface Head {
  readonly size: number;
  /** RFC 3339. */
  readonly at: string;
  /** Names of the witnesses that cosigned it. */
  readonly witnesses: readonly string[];
}

/** Faults that are listed at most; the rest are counted. */
const LISTED = 100_000;

/** Collects faults, so that none hides another. */
export class Faults {
  readonly listed: Fault[] = [];
  #more = 0;
  #failing = 0;
  #strictOnly = 0;

  add(fault: FaultKind, reason: string, about: About = {}): void {
    const strict_only = STRICT_ONLY.has(fault);
    if (strict_only) this.#strictOnly += 1;
    else this.#failing += 1;
    const known = Object.entries(about).filter(([, value]) => value !== undefined);
    if (this.listed.length === LISTED) this.#more += 1;
    else this.listed.push({ fault, ...Object.fromEntries(known), reason, strict_only });
  }

  /** How many were found beyond those that are listed. */
  get more(): number {
    return this.#more;
  }

  /** Whether everything is proven. */
  ok(strict: boolean): boolean {
    return this.#failing === 0 && (!strict || this.#strictOnly === 0);
  }
}
