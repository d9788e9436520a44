import type { Refusal } from '../../../shared/errors.ts';
import type { StreamEvent } from '../event-stream.ts';
import type { Verdict } from './verdict.ts';

/**
 * What an event means for the relay: `lifecycle` says nothing yet, `content` is the first thing worth a
 * caller's while, `finish` is the last of the content, `terminator` the API's own end, `error` its failure.
 */
export interface Meaning {
  readonly kind: 'lifecycle' | 'content' | 'finish' | 'terminator' | 'error';
  readonly usage?: unknown;
  /** A terminator that holds nothing of the answer itself, so that a stream of it alone is empty. */
  readonly bare?: true;
  /** An error that is the endpoint's verdict on the request. */
  readonly verdict?: Verdict | undefined;
}

/** How one API's event streams begin, end and fail. Keeps state: each stream has its own. */
export interface Dialect {
  read(event: StreamEvent): Meaning;
  /** The event that ends a stream whose content is whole but whose end never came. */
  readonly terminator: string;
  /** Whether a stream without `finish` or `terminator` is broken, even where the connection ended well. */
  readonly endIsMarked: boolean;
  errorEvent(refusal: Refusal, requestId: string): string;
}

/** The bytes of an event. */
export const eventText = (name: string | undefined, body: object): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(body)}\n\n`;
