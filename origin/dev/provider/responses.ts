import { type Answer, events, type Frame, json, named, type Typed } from './answer.ts';
import { CREATED, pieces, type Task, type ToolCall } from './task.ts';

/** `POST /responses` (OpenAI API reference, "Responses" and "Responses streaming"). */
export const responses = (task: Task): Answer =>
  task.streamed ? events(numbered(stream(task))) : json(whole(task));

type Event = readonly [part: Frame['part'], data: Typed];

function* numbered(list: Iterable<Event>): Generator<Frame> {
  let sequence = 0;
  for (const [part, data] of list) {
    yield named(part, { ...data, sequence_number: sequence });
    sequence += 1;
  }
}

function* stream(task: Task): Generator<Event> {
  const started = response(task, 'in_progress', []);
  yield ['lifecycle', { type: 'response.created', response: started }];
  yield ['lifecycle', { type: 'response.in_progress', response: started }];
  yield* task.tool === undefined ? spoken(task) : called(task, task.tool);
  yield ['terminator', { type: 'response.completed', response: whole(task) }];
}

function* spoken(task: Task): Generator<Event> {
  const item = messageItem(task, 'completed');
  const at = { item_id: item.id, output_index: 0, content_index: 0 };
  const opened = { ...messageItem(task, 'in_progress'), content: [] };
  yield ['lifecycle', { type: 'response.output_item.added', output_index: 0, item: opened }];
  yield ['lifecycle', { type: 'response.content_part.added', ...at, part: textPart('') }];
  for (const delta of pieces(task.text)) {
    yield ['content', { type: 'response.output_text.delta', ...at, delta, logprobs: [] }];
  }
  yield ['closing', { type: 'response.output_text.done', ...at, text: task.text, logprobs: [] }];
  yield ['closing', { type: 'response.content_part.done', ...at, part: textPart(task.text) }];
  yield ['closing', { type: 'response.output_item.done', output_index: 0, item }];
}

function* called(task: Task, tool: ToolCall): Generator<Event> {
  const item = callItem(task, tool, 'completed');
  const at = { item_id: item.id, output_index: 0 };
  const opened = { ...callItem(task, tool, 'in_progress'), arguments: '' };
  yield ['lifecycle', { type: 'response.output_item.added', output_index: 0, item: opened }];
  const half = Math.ceil(tool.arguments.length / 2);
  for (const delta of [tool.arguments.slice(0, half), tool.arguments.slice(half)]) {
    yield ['content', { type: 'response.function_call_arguments.delta', ...at, delta }];
  }
  const end = { ...at, name: tool.name, arguments: tool.arguments };
  yield ['closing', { type: 'response.function_call_arguments.done', ...end }];
  yield ['closing', { type: 'response.output_item.done', output_index: 0, item }];
}

const whole = (task: Task): object =>
  response(task, 'completed', [
    task.tool === undefined ? messageItem(task, 'completed') : callItem(task, task.tool, 'completed'),
  ]);

const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

const messageItem = (task: Task, status: string) => ({
  id: `msg_${task.id}`,
  type: 'message',
  status,
  role: 'assistant',
  content: [textPart(task.text)],
});

const callItem = (task: Task, tool: ToolCall, status: string) => ({
  id: `fc_${task.id}`,
  type: 'function_call',
  status,
  call_id: `call_${task.id}`,
  name: tool.name,
  arguments: tool.arguments,
});

const response = (task: Task, status: string, output: readonly object[]): object => ({
  id: `resp_${task.id}`,
  object: 'response',
  created_at: CREATED,
  status,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  model: task.model,
  output,
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  service_tier: 'default',
  store: false,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
  usage: status === 'completed' ? usage(task) : null,
});

/** Token counts under the newer API's names, or undefined, which leaves the member out. */
export const usage = ({ usage: counts }: Task): object | undefined =>
  counts && {
    input_tokens: counts.input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: counts.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: counts.input + counts.output,
  };
