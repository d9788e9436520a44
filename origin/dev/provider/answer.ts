/** One event of a stream, and the part it plays in it. */
export interface Frame {
  /** Before the content; content; after it (finish reason, usage); and the last one, which says it is over. */
  readonly part: 'lifecycle' | 'content' | 'closing' | 'terminator';
  readonly event?: string;
  readonly data: string;
}

/** An answer in the form of its API, before it is written to a connection. */
export type Answer =
  | { readonly kind: 'body'; readonly contentType: string; readonly bytes: Buffer }
  | { readonly kind: 'events'; readonly frames: Iterable<Frame> };

export const json = (document: object): Answer => ({
  kind: 'body',
  contentType: 'application/json',
  bytes: Buffer.from(JSON.stringify(document)),
});

export const bytes = (contentType: string, body: Buffer | string): Answer => ({
  kind: 'body',
  contentType,
  bytes: Buffer.from(body),
});

export const events = (frames: Iterable<Frame>): Answer => ({ kind: 'events', frames });

/** An unnamed event, as chat completions have them. */
export const unnamed = (part: Frame['part'], data: object): Frame => ({ part, data: JSON.stringify(data) });

/** Data of an event that names itself. */
export interface Typed {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** An event named by the `type` of its data, as messages and responses have them. */
export const named = (part: Frame['part'], data: Typed): Frame => ({
  part,
  event: data.type,
  data: JSON.stringify(data),
});

/** The end of OpenAI's older streams, which is no JSON. */
export const DONE: Frame = { part: 'terminator', data: '[DONE]' };
