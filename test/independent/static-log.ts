import { hash } from 'node:crypto';
import { COSIGNATURE, ED25519 } from './note.ts';
import type { NoteSigner } from './signer.ts';
import type { FetchPath } from './tiles.ts';

const sha256 = (...parts: readonly Uint8Array[]): Buffer => hash('sha256', Buffer.concat(parts), 'buffer');

/** MTH(D[n]) as RFC 6962 §2.1 puts it, over leaf hashes. */
export function mth(leaves: readonly Buffer[]): Buffer {
  const [only] = leaves;
  if (only === undefined) return sha256();
  if (leaves.length === 1) return only;
  const k = largestBelow(leaves.length);
  return sha256(Uint8Array.of(1), mth(leaves.slice(0, k)), mth(leaves.slice(k)));
}

const largestBelow = (n: number): number => 2 ** Math.ceil(Math.log2(n) - 1);

/** PATH(m, D[n]) of RFC 6962 §2.1.1. */
function path(m: number, leaves: readonly Buffer[]): Buffer[] {
  if (leaves.length === 1) return [];
  const k = largestBelow(leaves.length);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return m < k ? [...path(m, left), mth(right)] : [...path(m - k, right), mth(left)];
}

/** SUBPROOF(m, D[n], b) of RFC 6962 §2.1.2. */
function subproof(m: number, leaves: readonly Buffer[], whole: boolean): Buffer[] {
  if (m === leaves.length) return whole ? [] : [mth(leaves)];
  const k = largestBelow(leaves.length);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return m <= k ? [...subproof(m, left, whole), mth(right)] : [...subproof(m - k, right, false), mth(left)];
}

/** A log built straight from the definitions, at any size up to the number of its entries. */
export class StaticLog {
  readonly entries: readonly string[];
  readonly signer: NoteSigner;
  readonly leaves: readonly Buffer[];

  constructor(entries: readonly string[], signer: NoteSigner) {
    if (signer.type !== ED25519) throw new Error(`a log does not sign with type ${COSIGNATURE}`);
    this.entries = entries;
    this.signer = signer;
    this.leaves = entries.map((entry) => sha256(Uint8Array.of(0), Buffer.from(entry)));
  }

  text(size = this.entries.length): string {
    return `${this.signer.name}\n${size}\n${mth(this.leaves.slice(0, size)).toString('base64')}\n`;
  }

  checkpoint(size = this.entries.length): string {
    const text = this.text(size);
    return `${text}\n${this.signer.sign(text)}`;
  }

  proof(index: number, size = this.entries.length): string {
    const hashes = path(index, this.leaves.slice(0, size)).map((each) => `${each.toString('base64')}\n`);
    return `c2sp.org/tlog-proof@v1\nindex ${index}\n${hashes.join('')}\n${this.checkpoint(size)}`;
  }

  /** PROOF(m, D[n]) as base64; empty from nothing. */
  consistency(m: number, n = this.entries.length): string[] {
    if (m === 0) return [];
    return subproof(m, this.leaves.slice(0, n), true).map((each) => each.toString('base64'));
  }

  /** Every file that the log serves at a size, by its path. */
  files(size = this.entries.length): Map<string, Uint8Array> {
    const files = new Map<string, Uint8Array>([['checkpoint', Buffer.from(this.checkpoint(size))]]);
    const framed = this.entries.slice(0, size).map(frame);
    addTiles(files, 'tile/entries', framed);
    let row = this.leaves.slice(0, size);
    for (let level = 0; row.length > 0; level += 1) {
      addTiles(files, `tile/${level}`, row);
      row = chunks(row)
        .filter(({ length }) => length === 256)
        .map(mth);
    }
    return files;
  }
}

function frame(entry: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(entry));
  return Buffer.concat([length, Buffer.from(entry)]);
}

function chunks<T>(row: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(row.length / 256) }, (_, n) => row.slice(n * 256, (n + 1) * 256));
}

function addTiles(files: Map<string, Uint8Array>, folder: string, row: readonly Uint8Array[]): void {
  for (const [n, tile] of chunks(row).entries()) {
    if (n > 999) throw new Error('a test log has a thousand tiles at most');
    const partial = tile.length === 256 ? '' : `.p/${tile.length}`;
    files.set(`${folder}/${String(n).padStart(3, '0')}${partial}`, Buffer.concat(tile));
  }
}

/** Serves the files of a log; a path that is not there is refused. */
export const serve =
  (files: ReadonlyMap<string, Uint8Array>): FetchPath =>
  async (wanted) => {
    const file = files.get(wanted);
    if (file === undefined) throw new Error(`no file ${wanted}`);
    return file;
  };
