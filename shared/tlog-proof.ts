import { decimal, decodeBase64, decodeHash, encodeBase64 } from './base64.ts';
import { NOTE_LIMITS } from './note.ts';
import { err, ok, type Result } from './result.ts';

/** A proof that a leaf is in a log, which can be verified without the log (C2SP tlog-proof). */
export interface TlogProof {
  /** Place of the leaf, 0-based. */
  readonly index: number;
  /** Inclusion proof in the tree of the checkpoint, the leaf's sibling first. */
  readonly hashes: readonly Uint8Array[];
  /** The signed note of the checkpoint, verbatim. */
  readonly checkpoint: string;
  /** Free data that nothing vouches for. */
  readonly extra?: Uint8Array;
}

const HEADER = 'c2sp.org/tlog-proof@v1';

/** A tree whose size is a number has no higher paths. */
const MAX_HASHES = 53;

/** Characters of the lines before the checkpoint; most of it is room for `extra`. */
const MAX_HEAD = 65_536;

export function formatTlogProof({ index, hashes, checkpoint, extra }: TlogProof): string {
  const lines = [
    HEADER,
    ...(extra === undefined ? [] : [`extra ${encodeBase64(extra)}`]),
    `index ${index}`,
    ...hashes.map(encodeBase64),
  ];
  return `${lines.join('\n')}\n\n${checkpoint}`;
}

/** The lines before the checkpoint: header, extra data if any, index, one hash a line. */
const HEAD = /^c2sp\.org\/tlog-proof@v1\n(?:extra (\S+)\n)?index (\S+)((?:\n\S+)*)$/;

/** Reads a proof; nothing in it is verified. The error says what about its form is wrong. */
export function parseTlogProof(text: string): Result<TlogProof, string> {
  const end = text.indexOf('\n\n');
  if (end === -1) return err('the proof has no checkpoint after an empty line');
  if (end > MAX_HEAD || text.length > MAX_HEAD + NOTE_LIMITS.length) return err('the proof is too long');
  const head = HEAD.exec(text.slice(0, end));
  if (head === null) return err(`the proof is not of the form ${HEADER}`);
  const [, extraText, indexText = '', hashLines = ''] = head;
  const index = decimal(indexText);
  if (index === undefined) return err('the index is no decimal number');
  const lines = hashLines.split('\n').slice(1);
  const hashes = lines.map(decodeHash).filter((hash) => hash !== undefined);
  if (lines.length > MAX_HASHES) return err('the proof has more hashes than any tree is high');
  if (hashes.length < lines.length) return err('a line of the proof is no hash of 32 bytes in base64');
  const proof = { index, hashes, checkpoint: text.slice(end + 2) };
  if (extraText === undefined) return ok(proof);
  const extra = decodeBase64(extraText);
  return extra === undefined ? err('the extra data is no base64') : ok({ ...proof, extra });
}
