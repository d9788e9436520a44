import { z } from 'zod';
import { err, ok, type Result } from '../../../shared/result.ts';
import type { RouteKind } from './route.ts';

const tool = z.looseObject({
  name: z.string().optional(),
  function: z.looseObject({ name: z.string() }).optional(),
});

/** The members of any route's body that shape an answer; everything else is accepted unread. */
const bodySchema = z.looseObject({
  model: z.string().min(1).optional(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  stream_format: z.string().nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]).nullish(),
  messages: z.array(z.unknown()).optional(),
  input: z.unknown().optional(),
  prompt: z.unknown().optional(),
  encoding_format: z.string().nullish(),
  dimensions: z.int().min(1).max(4096).nullish(),
  response_format: z.unknown().optional(),
  n: z.int().min(1).max(16).nullish(),
  inference_geo: z.string().nullish(),
});

export type AskedBody = z.infer<typeof bodySchema>;

/** Routes whose model the real APIs choose themselves when none is named. */
const MODEL_OPTIONAL: readonly RouteKind[] = ['image', 'moderation', 'models'];

/** The body of a request as the route understands it, or what the caller did wrong, in the API's words. */
export async function readAsked(
  route: RouteKind,
  body: Buffer,
  contentType: string | undefined,
): Promise<Result<AskedBody, string>> {
  if (route === 'models') return ok({});
  const document = route === 'transcription' ? await formOf(body, contentType) : jsonOf(body);
  if (document === undefined) return err('We could not parse the body of your request.');
  const parsed = bodySchema.safeParse(document);
  if (!parsed.success) return err(z.prettifyError(parsed.error));
  if (parsed.data.model === undefined && !MODEL_OPTIONAL.includes(route)) {
    return err('you must provide a model parameter');
  }
  return ok(parsed.data);
}

/** The model that a body names, read as leniently as possible, so that orders can be matched to it. */
export async function modelOf(body: Buffer, contentType: string | undefined): Promise<string | undefined> {
  const document = contentType?.startsWith('multipart/') ? await formOf(body, contentType) : jsonOf(body);
  return z.looseObject({ model: z.string() }).safeParse(document).data?.model;
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

async function formOf(body: Buffer, contentType = ''): Promise<object | undefined> {
  try {
    const form = await new Response(new Uint8Array(body), {
      headers: { 'content-type': contentType },
    }).formData();
    const file = form.get('file');
    if (!(file instanceof File) || file.size === 0) return undefined;
    const fields = [...form].filter(([, value]) => typeof value === 'string');
    return { ...Object.fromEntries(fields), stream: form.get('stream') === 'true', n: undefined };
  } catch {
    return undefined;
  }
}
