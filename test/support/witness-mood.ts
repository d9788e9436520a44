import type { ServerResponse } from 'node:http';
import type { NoteSigner } from '../independent/signer.ts';
import type { Submission } from './witness-book.ts';

/**
 * How a witness behaves. `down` breaks the connection and keeps nothing; `cut_off` keeps the checkpoint and
 * breaks the connection; `slow` keeps it and answers when its mood changes; `failing` answers 500; `conflict`
 * says 409 and a size of the test's own; `stranger` signs with a key that nobody knows; `chatty` adds such a
 * line to its own; `forked` cosigns another root; `babbling` sends no signature line; `flooding` never stops
 * sending; `elsewhere` redirects.
 */
export type WitnessMood =
  | 'honest'
  | 'down'
  | 'cut_off'
  | 'slow'
  | 'failing'
  | 'stranger'
  | 'chatty'
  | 'forked'
  | 'babbling'
  | 'flooding'
  | 'elsewhere'
  | { readonly conflict: number };

/** The lines with which a witness of that mood answers a checkpoint that it has taken; `seconds` is Unix time. */
export function cosignatureLines(
  mood: WitnessMood,
  { note, head }: Submission,
  { own, stranger }: { readonly own: NoteSigner; readonly stranger: NoteSigner },
  seconds: number,
): string {
  if (mood === 'stranger') return stranger.sign(note.text, seconds);
  if (mood === 'chatty') return stranger.sign(note.text, seconds) + own.sign(note.text, seconds);
  if (mood === 'forked') return own.sign(`${head.origin}\n${head.size}\n${FORKED_ROOT}\n`, seconds);
  return mood === 'babbling' ? 'cosigned\n' : own.sign(note.text, seconds);
}

const FORKED_ROOT = Buffer.alloc(32, 7).toString('base64');

/** Sends signature lines without end, as fast as they are taken. */
export function flood(response: ServerResponse): void {
  const line = `${'— w.example AAAA\n'.repeat(1_024)}`;
  const more = (): void => {
    while (!response.destroyed && response.write(line));
  };
  response.on('drain', more);
  more();
}
