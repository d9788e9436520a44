import { z } from 'zod';

const loose = z.looseObject({});
const holder = z.looseObject({ usage: z.unknown().optional() }).nullish().catch(undefined);

/** The members of an event's data that any dialect looks at; what has another form counts as missing. */
const frameSchema = z.looseObject({
  type: z.string().nullish().catch(undefined),
  error: z.unknown().optional(),
  usage: z.unknown().optional(),
  sequence_number: z.number().optional().catch(undefined),
  message: holder,
  response: holder,
  delta: z.looseObject({ stop_reason: z.unknown().optional() }).nullish().catch(undefined),
  content_block: z.looseObject({ type: z.string().nullish() }).nullish().catch(undefined),
  choices: z
    .array(
      z.looseObject({
        index: z.number().nullish(),
        finish_reason: z.unknown().optional(),
        text: z.unknown().optional(),
        delta: loose.nullish().catch(undefined),
      }),
    )
    .nullish()
    .catch(undefined),
});

export type Frame = z.infer<typeof frameSchema>;

/** The JSON object in an event's data, or undefined where there is none. */
export function frameOf(data: string | undefined): Frame | undefined {
  try {
    return frameSchema.safeParse(JSON.parse(data ?? '')).data;
  } catch {
    return undefined;
  }
}

/** Whether the data is white space alone, as some servers send it to keep a connection alive. */
export const isBlank = (data: string | undefined): boolean => data?.trim() === '';

export const hasError = (frame: Frame | undefined): boolean =>
  frame?.error !== undefined && frame.error !== null;
