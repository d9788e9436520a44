import { type Answer, DONE, events, type Frame, json, unnamed } from './answer.ts';
import { CREATED, pieces, type Task, type Usage } from './task.ts';

/** `POST /chat/completions` (OpenAI API reference, "Chat Completions"), plain and streamed. */
export const chat = (task: Task): Answer => (task.streamed ? events(chunks(task)) : json(completion(task)));

/** `POST /completions`, the older form without roles. */
export const completions = (task: Task): Answer =>
  task.streamed ? events(legacyChunks(task)) : json(legacy(task, task.text, 'stop', { usage: usage(task) }));

function completion(task: Task): object {
  const call = toolCall(task);
  const message = {
    role: 'assistant',
    content: call === undefined ? task.text : null,
    refusal: null,
    annotations: [],
    ...(call !== undefined && { tool_calls: [call] }),
  };
  return {
    ...head(task, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(task) }],
    usage: usage(task),
  };
}

function* chunks(task: Task): Generator<Frame> {
  const counted = task.asked.stream_options?.include_usage === true;
  const chunk = (delta: object, finish: string | null) => ({
    ...head(task, 'chat.completion.chunk'),
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...(counted && { usage: null }),
  });
  yield unnamed('lifecycle', chunk({ role: 'assistant', content: '', refusal: null }, null));
  for (const delta of deltas(task)) yield unnamed('content', chunk(delta, null));
  yield unnamed('closing', chunk({}, finishReason(task)));
  if (counted && task.usage !== undefined) {
    yield unnamed('closing', {
      ...head(task, 'chat.completion.chunk'),
      choices: [],
      usage: usage(task),
    });
  }
  yield DONE;
}

function* deltas(task: Task): Generator<object> {
  const call = toolCall(task);
  if (call === undefined) {
    for (const content of pieces(task.text)) yield { content };
    return;
  }
  const named = { name: call.function.name, arguments: '' };
  yield { tool_calls: [{ index: 0, id: call.id, type: 'function', function: named }] };
  const half = Math.ceil(call.function.arguments.length / 2);
  for (const part of [call.function.arguments.slice(0, half), call.function.arguments.slice(half)]) {
    yield { tool_calls: [{ index: 0, function: { arguments: part } }] };
  }
}

function toolCall({ id, tool }: Task) {
  return tool && { id: `call_${id}`, type: 'function', function: tool };
}

const finishReason = (task: Task): string => (task.tool === undefined ? 'stop' : 'tool_calls');

const head = (task: Task, object: string) => ({
  id: `chatcmpl-${task.id}`,
  object,
  created: CREATED,
  model: task.model,
  service_tier: 'default',
  system_fingerprint: 'fp_provider',
});

/** The older APIs' token counts, or undefined, which leaves the member out. */
export const usage = (task: Task): object | undefined => task.usage && countsOf(task.usage);

const countsOf = ({ input, output }: Usage) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
});

const legacy = (task: Task, text: string, finish: string | null, more: object = {}) => ({
  id: `cmpl-${task.id}`,
  object: 'text_completion',
  created: CREATED,
  model: task.model,
  choices: [{ text, index: 0, logprobs: null, finish_reason: finish }],
  ...more,
});

function* legacyChunks(task: Task): Generator<Frame> {
  for (const text of pieces(task.text)) yield unnamed('content', legacy(task, text, null));
  yield unnamed('closing', legacy(task, '', 'stop'));
  if (task.asked.stream_options?.include_usage === true) {
    yield unnamed('closing', legacy(task, '', null, { choices: [], usage: usage(task) }));
  }
  yield DONE;
}
