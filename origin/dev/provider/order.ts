import { validateHeaderName, validateHeaderValue } from 'node:http';
import { z } from 'zod';
import { faultSchema, wireSchema } from './fault.ts';
import { PAUSE_POINTS } from './gates.ts';

/** Longest ordered delay, in milliseconds: no test needs more, and a forgotten one must end. */
const MAX_DELAY_MS = 600_000;

/** Longest answer that can be ordered, in bytes: it is held in memory as one string. */
const MAX_TEXT_BYTES = 256 * 1024 * 1024;

const headerName = z.string().refine((name) => accepts(() => validateHeaderName(name)), 'no header name');
const headerValue = z
  .string()
  .refine((value) => accepts(() => validateHeaderValue('x', value)), 'no header value');

/** Whether a check of Node's, which throws, has nothing against its argument. */
function accepts(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

const pausePoint = z.enum(PAUSE_POINTS);

/**
 * How the provider behaves for a request. All members combine; what is left out stays as a healthy provider
 * does it, so `{}` is the order for good behaviour.
 */
export const orderSchema = z.strictObject({
  /** Status line. From 400 up the body becomes an error of the API that the path belongs to. */
  status: z.int().min(100).max(999).optional(),
  /** Members of that error body, or of an error event, in place of the usual ones for the status. */
  error: z
    .strictObject({ message: z.string(), type: z.string(), code: z.string().nullable() })
    .partial()
    .optional(),
  /** Quotes what was received, in the error message and in the header `x-debug-echo`, as validators do. */
  echo: z.array(z.enum(['prompt', 'credential'])).optional(),
  /** A redirect, with the `Location` to send the caller to. */
  redirect: z
    .strictObject({ status: z.int().min(300).max(399).default(307), location: headerValue })
    .optional(),
  /** Headers added to, or put in place of, the usual ones. A list sends the header once for each member. */
  headers: z.record(headerName, z.union([headerValue, z.array(headerValue)])).optional(),
  /** Informational answers (such as 103) sent before the final one. */
  interim: z.array(z.int().min(102).max(199)).max(8).optional(),
  contentType: headerValue.optional(),
  /** Region reported in the region header; null reports none. */
  region: headerValue.nullable().optional(),
  /** `usage.inference_geo` of a message. */
  inferenceGeo: z.string().optional(),

  /** Words of the answer, in place of the sentence that names provider and model. */
  text: z.string().optional(),
  /** An answer (or error message) of so many bytes of text. */
  textBytes: z.int().min(0).max(MAX_TEXT_BYTES).optional(),
  /** Calls the first tool of the request. Also done unasked where `tool_choice` demands a call. */
  toolCall: z.strictObject({ name: z.string(), arguments: z.string() }).partial().optional(),
  /** Token counts that are reported; null reports none. */
  usage: z.strictObject({ input: z.number(), output: z.number() }).nullable().optional(),
  /** Answers with one JSON body even where the request asked for a stream. */
  plain: z.boolean().optional(),
  /** Exactly this text as body. */
  body: z.string().optional(),
  /** Exactly these events as stream. The last one counts as terminator, those before as content. */
  events: z.array(z.strictObject({ event: z.string().optional(), data: z.string() })).optional(),
  /** These bytes instead of any HTTP answer, and then the end of the connection, or silence. */
  raw: z
    .strictObject({
      bytes: z.union([z.strictObject({ text: z.string() }), z.strictObject({ base64: z.base64() })]),
      ending: z.enum(['end', 'silence']).default('end'),
    })
    .optional(),

  /** Content encoding of the body, whatever it is: answer, error or stream. */
  encoding: z.enum(['gzip', 'br']).optional(),
  /** No `content-length` on a plain answer. */
  chunked: z.boolean().optional(),
  /** Announces a `content-length` so many bytes above the body's, and ends the connection after the body. */
  overstateLength: z.int().positive().optional(),
  wire: wireSchema.optional(),
  fault: faultSchema.optional(),

  /** Points at which the answer waits until the test releases it. */
  gate: z.union([pausePoint, z.array(pausePoint)]).optional(),
  /** Milliseconds to wait at each point, after its gate. */
  delay: z.partialRecord(pausePoint, z.int().min(0).max(MAX_DELAY_MS)).optional(),
  /** Answers from the headers alone, before the body is read. Only orders without a `model` match can. */
  early: z.boolean().optional(),
  /** What `expect: 100-continue` gets: the interim answer, none at all, or 417. */
  expectContinue: z.enum(['continue', 'never', 'refuse']).optional(),
  /**
   * The connection after the answer: announced as closing; closed without a word; or kept and then reset
   * exactly when the next request arrives on it.
   */
  connection: z.enum(['close_announced', 'close_silently', 'reset_on_next']).optional(),
});

/** Which requests an order is for: those whose path ends so, and whose `model` is this one. */
export const matchSchema = z.strictObject({ path: z.string(), model: z.string() }).partial();

export const orderOptionsSchema = z.strictObject({ times: z.int().positive(), match: matchSchema }).partial();

export type Order = z.infer<typeof orderSchema>;
/** An order as it is given, before defaults are filled in. */
export type OrderInput = z.input<typeof orderSchema>;
export type OrderOptions = z.infer<typeof orderOptionsSchema>;
export type Match = z.infer<typeof matchSchema>;
