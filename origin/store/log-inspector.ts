import type { StoreReader } from './store.ts';

/** A range of places whose bodies were dropped at once, both ends within it. */
export interface PruningRow {
  readonly first: number;
  readonly last: number;
  /** Id of the `control` record that tells of it. */
  readonly control: string;
}

/** What beside the reads of an origin is needed to check a whole store. */
export interface LogInspector extends StoreReader {
  /** The ranges that end at this place or behind it, in order; they do not overlap. */
  prunings(place: number, limit: number): Promise<readonly PruningRow[]>;
  /**
   * What the database finds wrong with its own form: pages, indexes, rows that are not unique, tables and guards
   * that are not as this program makes them. Words without anything of a row; empty where all is well. It reads
   * the whole database and takes as long as that takes.
   */
  damage(): Promise<readonly string[]>;
}
