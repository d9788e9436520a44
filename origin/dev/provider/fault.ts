import { z } from 'zod';

/** Where an answer goes wrong. All but the first two and `bytes` are places in an event stream. */
const faultPlaceSchema = z.union([
  z.enum([
    /** Before the status line. */
    'before_headers',
    /** After the headers, before the first byte of the body. */
    'before_body',
    /** After the role-only chunk, `message_start` and `ping`, or what the API has in their place. */
    'before_content',
    /** After the finish reason (and usage), before `[DONE]`, `message_stop` or `response.completed`. */
    'before_terminator',
  ]),
  /** After so many events with content. */
  z.strictObject({ contentFrames: z.int().positive() }),
  /** After so many bytes of the body as sent, so after encoding. */
  z.strictObject({ bytes: z.int().min(0) }),
]);

/** One way in which an answer breaks off. */
export const faultSchema = z
  .strictObject({
    at: faultPlaceSchema,
    /** Sends the API's own error event first. */
    errorEvent: z.boolean().default(false),
    /**
     * Then closes the connection, resets it, says nothing more with the connection open, ends the answer in
     * good order (a plain one short of its `content-length`), or ends it with the usual terminator.
     */
    ending: z.enum(['cut', 'reset', 'silence', 'end', 'terminator']),
  })
  .refine((fault) => fault.at !== 'before_headers' || !fault.errorEvent, {
    message: 'an error event needs headers before it: use before_body',
  });

export type Fault = z.infer<typeof faultSchema>;

/** How an event stream is written down: all of it allowed by the server-sent events specification. */
export const wireSchema = z
  .strictObject({
    newline: z.enum(['lf', 'crlf', 'cr']),
    /** A space after `data:`. */
    space: z.boolean(),
    /** A comment before each event, as keep-alive. */
    comments: z.boolean(),
    /** A JSON document written over several `data:` lines. */
    multiline: z.boolean(),
    /** The blank line after the last event. */
    finalBlankLine: z.boolean(),
    /** A byte order mark at the very start. */
    byteOrderMark: z.boolean(),
    /** Pieces of so many bytes, each a chunk of its own; 1 splits characters and CRLF too. */
    split: z.int().positive(),
    /** Everything in one piece, as when a proxy on the way collects. */
    coalesce: z.boolean(),
  })
  .partial();

export type Wire = z.infer<typeof wireSchema>;
