/** A policy as it was in force at some time. */
export interface PolicyRow {
  /** Hash of `stream`, hex, as records cite it. */
  readonly sha256: string;
  readonly name: string;
  readonly version: string;
  /** The YAML stream, byte by byte. */
  readonly stream: Uint8Array;
  /** When it was first kept: RFC 3339, milliseconds, UTC. */
  readonly at: string;
}

/** Reads of the policies that records cite. They reject with StoreError, in a bounded time. */
export interface PolicyReader {
  policyOf(sha256: string): Promise<PolicyRow | undefined>;
  /** The rows that follow a hash, in the order of the hashes; '' starts at the first. */
  policies(after: string, limit: number): Promise<readonly PolicyRow[]>;
}

/** Every policy that was ever in force, so that a region can be held against the words of its time. */
export interface PolicyTable extends PolicyReader {
  /**
   * Keeps those that are not there yet, all or none; once it resolves they are durable. One of a hash that is
   * there stays as it is. The database itself MUST enforce that none is changed or removed.
   */
  keepPolicies(rows: readonly PolicyRow[]): Promise<void>;
}
