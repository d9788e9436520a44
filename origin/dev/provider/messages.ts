import { type Answer, events, type Frame, json, named } from './answer.ts';
import { pieces, type Task } from './task.ts';

/** `POST /messages` (Anthropic API reference, "Messages" and "Streaming Messages"). */
export const messages = (task: Task): Answer => (task.streamed ? events(stream(task)) : json(whole(task)));

/** `POST /messages/count_tokens`. */
export const tokenCount = (task: Task): Answer => json({ input_tokens: task.usage?.input ?? 0 });

function whole(task: Task): object {
  const content =
    task.tool === undefined
      ? { type: 'text', text: task.text }
      : { ...toolUse(task, task.tool.name), input: inputOf(task.tool.arguments) };
  return message(task, [content], stopReason(task), task.usage?.output ?? 0);
}

function* stream(task: Task): Generator<Frame> {
  yield named('lifecycle', { type: 'message_start', message: message(task, [], null, 1) });
  const block = task.tool === undefined ? { type: 'text', text: '' } : toolUse(task, task.tool.name);
  yield named('lifecycle', { type: 'content_block_start', index: 0, content_block: block });
  yield named('lifecycle', { type: 'ping' });
  for (const delta of deltas(task)) {
    yield named('content', { type: 'content_block_delta', index: 0, delta });
  }
  yield named('closing', { type: 'content_block_stop', index: 0 });
  yield named('closing', {
    type: 'message_delta',
    delta: { stop_reason: stopReason(task), stop_sequence: null },
    usage: task.usage && { output_tokens: task.usage.output },
  });
  yield named('terminator', { type: 'message_stop' });
}

function* deltas({ text, tool }: Task): Generator<object> {
  if (tool === undefined) {
    for (const piece of pieces(text)) yield { type: 'text_delta', text: piece };
    return;
  }
  const half = Math.ceil(tool.arguments.length / 2);
  for (const part of ['', tool.arguments.slice(0, half), tool.arguments.slice(half)]) {
    yield { type: 'input_json_delta', partial_json: part };
  }
}

const toolUse = (task: Task, name: string) => ({ type: 'tool_use', id: `toolu_${task.id}`, name, input: {} });

/** A message holds its call as an object, so ordered arguments that are no JSON become none. */
function inputOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

const stopReason = (task: Task): string => (task.tool === undefined ? 'end_turn' : 'tool_use');

const message = (task: Task, content: readonly object[], stop: string | null, output: number): object => ({
  id: `msg_${task.id}`,
  type: 'message',
  role: 'assistant',
  model: task.model,
  content,
  stop_reason: stop,
  stop_sequence: null,
  usage: task.usage && {
    input_tokens: task.usage.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: output,
    service_tier: 'standard',
    ...(task.inferenceGeo !== undefined && { inference_geo: task.inferenceGeo }),
  },
});
