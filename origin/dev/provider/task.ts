import type { AskedBody } from './asked.ts';
import type { Order } from './order.ts';

/** Characters of one piece of streamed text. */
const MAX_PIECE = 16_384;

/** Bytes of a prompt that count as one token; near enough to what real tokenisers give. */
const BYTES_PER_TOKEN = 4;

export interface Usage {
  readonly input: number;
  readonly output: number;
}

export interface ToolCall {
  readonly name: string;
  /** JSON text, as the API hands it out. */
  readonly arguments: string;
}

/** What one answer says, before an API gives it its form. */
export interface Task {
  readonly asked: AskedBody;
  readonly model: string;
  /** Unique in one run and the same in each run. */
  readonly id: string;
  readonly text: string;
  readonly tool: ToolCall | undefined;
  /** Undefined where the answer shall report none. */
  readonly usage: Usage | undefined;
  readonly inferenceGeo: string | undefined;
  /** An event stream was asked for, and no order stands against it. */
  readonly streamed: boolean;
}

/** Unix seconds that answers are dated with: fixed, so that each run gives the same bytes. */
export const CREATED = 1_767_225_600;

/** Decides what is said in answer to a request. */
export function taskOf(asked: AskedBody, order: Order, provider: string, index: number): Task {
  const model = asked.model ?? 'default';
  const text =
    order.textBytes === undefined
      ? (order.text ?? `Answered by ${provider} with ${model}.`)
      : 'x'.repeat(order.textBytes);
  const prompt = promptOf(asked);
  return {
    asked,
    model,
    id: `${provider}-${index}`,
    text,
    tool: toolCallOf(asked, order),
    usage:
      order.usage === null ? undefined : (order.usage ?? { input: tokens(prompt), output: tokens(text) }),
    inferenceGeo: order.inferenceGeo ?? asked.inference_geo ?? undefined,
    streamed: (asked.stream === true || asked.stream_format === 'sse') && order.plain !== true,
  };
}

/** The caller's own content, wherever the API has its place for it. */
export const promptOf = (asked: AskedBody): string =>
  JSON.stringify(asked.messages ?? asked.input ?? asked.prompt ?? '');

/** The text in the pieces that a stream sends it in: word by word, and never more than 16 KiB at once. */
export function* pieces(text: string): Generator<string> {
  for (const word of text.split(/(?<= )/)) {
    for (let at = 0; at < word.length; at += MAX_PIECE) yield word.slice(at, at + MAX_PIECE);
  }
}

const tokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

function toolCallOf(asked: AskedBody, order: Order): ToolCall | undefined {
  const [first] = asked.tools ?? [];
  const choice = asked.tool_choice;
  const kind = typeof choice === 'string' ? choice : choice?.type;
  const forced =
    kind !== undefined && kind !== null && ['required', 'any', 'tool', 'function'].includes(kind);
  if (first === undefined || !(forced || order.toolCall !== undefined)) return undefined;
  return {
    name: order.toolCall?.name ?? first.function?.name ?? first.name ?? 'tool',
    arguments: order.toolCall?.arguments ?? '{"city":"Zürich"}',
  };
}
