import type { Clock } from '../../origin/clock.ts';
import type { Caller } from './caller.ts';
import type { Documents } from './documents.ts';
import { WORDS } from './frames.ts';
import type { LogIndex } from './log-index.ts';
import type { Visit } from './visit.ts';

/** What no record and no line of a log may hold: a prompt, a completion, a key. */
export const CONTENT = ['prompt of', WORDS, 'rgk_'] as const;

/** What the invariants are judged by: only what the world itself has seen, and the durable log. */
export interface Scene {
  readonly documents: Documents;
  readonly clock: Clock;
  readonly log: LogIndex;
  /** By the id of the call. */
  readonly callers: ReadonlyMap<string, Caller>;
  readonly visits: readonly Visit[];
  /** Something that must never happen has happened. */
  broken(what: string): void;
}

/** The visits that were made for a call. */
export const visitsOf = ({ visits }: Scene, call: string): readonly Visit[] =>
  visits.filter((visit) => visit.call === call);
