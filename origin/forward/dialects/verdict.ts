import { z } from 'zod';
import type { Api } from '../../../shared/routes.ts';
import { meaningOfStatus } from '../status.ts';

/** An endpoint's verdict on the request, given where a stream was to begin. */
export interface Verdict {
  /** The status that it would have had as an answer of its own. */
  readonly status: number;
  /** JSON, in the envelope of its API. */
  readonly body: string;
}

/** Words of OpenAI's, Anthropic's and vLLM's errors that blame the request, each with its status. */
const STATUS_OF: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['BadRequestError', 400],
  ['invalid_prompt', 400],
  ['context_length_exceeded', 400],
  ['content_filter', 400],
  ['content_policy_violation', 400],
  ['bio_policy', 400],
  ['misalignment_policy_violation', 400],
  ['invalid_image', 400],
  ['invalid_image_format', 400],
  ['invalid_base64_image', 400],
  ['invalid_image_url', 400],
  ['invalid_image_mode', 400],
  ['image_too_large', 400],
  ['image_too_small', 400],
  ['image_file_too_large', 400],
  ['image_parse_error', 400],
  ['image_content_policy_violation', 400],
  ['unsupported_image_media_type', 400],
  ['empty_image_file', 400],
  ['not_found_error', 404],
  ['NotFoundError', 404],
  ['request_too_large', 413],
  ['UnprocessableEntityError', 422],
]);

/** They come under the type `invalid_request_error`, and speak of our credential or account. */
const OF_OURS: ReadonlySet<string> = new Set([
  'invalid_api_key',
  'invalid_organization',
  'insufficient_quota',
  'billing_not_active',
]);

const errorSchema = z.looseObject({
  code: z.union([z.string(), z.number()]).nullish().catch(undefined),
  type: z.string().nullish().catch(undefined),
});

/** Where the APIs put the error into an event: under `error`, inside of a failed response, or at the top. */
const eventSchema = z.looseObject({
  error: errorSchema.nullish().catch(undefined),
  response: z.looseObject({ error: errorSchema.nullish() }).nullish().catch(undefined),
});

/**
 * The verdict that an error event holds, or undefined where it speaks of the endpoint, of our credential or of
 * load, or does not say.
 *
 * @param data of the event
 */
export function verdictIn(data: string | undefined, api: Api): Verdict | undefined {
  const event = eventSchema.safeParse(parsed(data ?? ''));
  if (!event.success) return undefined;
  const error = event.data.error ?? event.data.response?.error ?? errorSchema.parse(event.data);
  const status = statusOf(error);
  if (status === undefined) return undefined;
  return { status, body: JSON.stringify(api === 'openai' ? { error } : event.data) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function statusOf({ code, type }: z.infer<typeof errorSchema>): number | undefined {
  const number = /^[1-5]\d\d$/.test(String(code)) ? Number(code) : undefined;
  if (number !== undefined) return meaningOfStatus(number).kind === 'rejected' ? number : undefined;
  const word = String(code ?? '');
  if (OF_OURS.has(word)) return undefined;
  return STATUS_OF.get(word) ?? STATUS_OF.get(type ?? '');
}
