import { errors, Pool } from 'undici';
import { decimal, encodeBase64 } from '../../shared/base64.ts';
import { parseNote, parseSignatureLine } from '../../shared/note.ts';
import { attestedBy, isBy } from '../../shared/note-signature.ts';
import type { VerifierKey } from '../../shared/verifier-key.ts';
import type { Clock } from '../clock.ts';

/** Somebody else who vouches that the log has one history (C2SP tlog-witness). */
export interface Witness {
  /** Its key for cosignatures. */
  readonly key: VerifierKey;
  /** Its submission prefix. */
  readonly url: URL;
}

/** A checkpoint for a witness, with the proof that it continues the tree of `old` leaves. */
export interface Submission {
  readonly old: number;
  readonly proof: readonly Uint8Array[];
  /** The signed note. */
  readonly note: string;
}

export type WitnessAnswer =
  /** `line` is its cosignature, verified. */
  | { readonly kind: 'cosigned'; readonly line: string }
  /** It goes by another size than `old`, or by another root of that size. */
  | { readonly kind: 'conflict'; readonly size: number }
  /** `why` in words of this side. */
  | { readonly kind: 'failed'; readonly why: string };

/** Until a witness has answered in full, in ms. */
const ANSWER_MS = 10_000;

/** Bytes of its answer at most: some lines of its own, and of other keys that it has. */
const ANSWER_BYTES = 16_384;

/** How long an idle connection is kept, in ms. */
const IDLE_MS = 4_000;

/**
 * Asks one witness. What goes to it is the checkpoint and hashes, and never a word of a record; what comes back
 * is believed as far as its signature holds. Never rejects.
 */
export class WitnessClient {
  readonly #witness: Witness;
  readonly #clock: Clock;
  readonly #pool: Pool;
  readonly #closed = new AbortController();

  constructor(witness: Witness, clock: Clock) {
    this.#witness = witness;
    this.#clock = clock;
    this.#pool = new Pool(witness.url.origin, {
      connections: 1,
      connect: { timeout: ANSWER_MS },
      keepAliveTimeout: IDLE_MS,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: ANSWER_BYTES,
      allowH2: false,
    });
  }

  async submit(submission: Submission): Promise<WitnessAnswer> {
    const limit = new AbortController();
    const cancel = this.#clock.setTimeout(() => limit.abort(), ANSWER_MS);
    try {
      const { statusCode, headers, body } = await this.#pool.request({
        path: `${this.#witness.url.pathname.replace(/\/$/, '')}/add-checkpoint`,
        method: 'POST',
        headers: { 'content-type': 'text/plain; charset=utf-8' },
        body: bodyOf(submission),
        signal: AbortSignal.any([limit.signal, this.#closed.signal]),
      });
      return this.#read(statusCode, headers['content-type'], await body.text(), submission.note);
    } catch (cause) {
      return failed(limit.signal.aborted ? `gave no answer in ${ANSWER_MS} ms` : reasonOf(cause));
    } finally {
      cancel();
    }
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#pool.destroy();
  }

  #read(status: number, type: unknown, text: string, note: string): WitnessAnswer {
    if (status === 200) return this.#cosignature(text, note);
    const size = status === 409 && type === 'text/x.tlog.size' ? decimal(text.replace(/\n$/, '')) : undefined;
    return size === undefined ? failed(`answered with the status ${status}`) : { kind: 'conflict', size };
  }

  /** Lines of other keys are passed over, as the specification asks. */
  #cosignature(text: string, note: string): WitnessAnswer {
    const { key } = this.#witness;
    const parsed = parseNote(note);
    if (!parsed.ok) throw new Error('a checkpoint of this log is no signed note');
    for (const line of text.split('\n')) {
      const signature = parseSignatureLine(line);
      if (signature === undefined || !isBy(key, signature)) continue;
      if (attestedBy(key, parsed.value.text, signature).holds) return { kind: 'cosigned', line };
    }
    return failed('gave no cosignature that holds under its key');
  }
}

const failed = (why: string): WitnessAnswer => ({ kind: 'failed', why });

/** The body of `add-checkpoint`. */
const bodyOf = ({ old, proof, note }: Submission): string =>
  [`old ${old}\n`, ...proof.map((hash) => `${encodeBase64(hash)}\n`), '\n', note].join('');

/** By its class alone: messages can quote what a stranger sent. */
const reasonOf = (cause: unknown): string =>
  cause instanceof errors.ResponseExceededMaxSizeError
    ? `answered with more than ${ANSWER_BYTES} bytes`
    : 'could not be reached';
