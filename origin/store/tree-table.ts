/** A checkpoint that was signed over the log. */
export interface CheckpointRow {
  /** 0, 1, 2 … in the order of signing, without gaps. */
  readonly number: number;
  /** How many rows of the log it covers. */
  readonly size: number;
  /** Root of the tree of that size, 32 bytes (RFC 6962 section 2.1). */
  readonly root: Uint8Array;
  /** When it was signed: RFC 3339, milliseconds, UTC. */
  readonly at: string;
  /** The full hour that it closes, where it closes one. */
  readonly hour: string | undefined;
  /** The signed note as the log signed it. */
  readonly note: string;
  /** Signature lines of witnesses, in the order in which they were put to it. */
  readonly cosignatures: readonly string[];
}

/** Root of a full tile: `index` counts the tiles of a level from 0, `level` is at least 1 (C2SP tlog-tiles). */
export interface TileRoot {
  readonly level: number;
  readonly index: number;
  readonly hash: Uint8Array;
}

/** Most signature lines of witnesses that one checkpoint keeps. */
export const COSIGNATURES_MAX = 64;

/** Reads of the Merkle tree over the log and of its checkpoints. They reject with StoreError, in a bounded time. */
export interface TreeReader {
  /**
   * Hashes of the tree from the place `first` of a level on, as many as there are: level 0 the leaf hashes of the
   * rows, pruned ones too, level n the roots of full tiles of level n-1 that checkpoints brought along.
   */
  hashes(level: number, first: number, limit: number): Promise<readonly Uint8Array[]>;
  /** The one that was signed last. */
  latestCheckpoint(): Promise<CheckpointRow | undefined>;
  /** Those that follow this number, in the order of signing; -1 starts at the first. */
  checkpoints(afterNumber: number, limit: number): Promise<readonly CheckpointRow[]>;
  /** Of those signed at or before this time the latest; of several of one time the one that was signed last. */
  checkpointBefore(at: string): Promise<CheckpointRow | undefined>;
  /** Of those signed at or after this time the earliest; of several of one time the one that was signed first. */
  checkpointFrom(at: string): Promise<CheckpointRow | undefined>;
  /** The first whose size is above the place `seq`, so that it covers the row there. */
  checkpointOver(seq: number): Promise<CheckpointRow | undefined>;
}

/** What was signed over the log. Like the log it is append-only, and the database itself MUST enforce that. */
export interface TreeTable extends TreeReader {
  /**
   * Keeps a signed checkpoint under the next number, and the tile roots that it newly covers, all or none. Once
   * it resolves they are durable; it takes as long as the database takes.
   *
   * It MUST reject as `rejected`: a checkpoint smaller than the newest, one of the newest's size with another
   * root, one over more rows than there are, a tile root that is not the next one of its level. After `failed`
   * `latestCheckpoint` tells whether it was kept.
   */
  publish(checkpoint: Omit<CheckpointRow, 'number'>, roots: readonly TileRoot[]): Promise<void>;
  /**
   * Puts signature lines of witnesses to a checkpoint, behind those that it has; one that it has already is not
   * put to it again. MUST reject a number that there is not, and more than COSIGNATURES_MAX lines, as `rejected`.
   */
  cosign(number: number, lines: readonly string[]): Promise<void>;
}
