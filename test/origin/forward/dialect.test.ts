import { describe, expect, it } from 'vitest';
import { dialectOf } from '../../../origin/forward/dialect.ts';
import type { ModelRoute } from '../../../shared/routes.ts';

/** What each event of one stream means, in turn. A frame with a `type` carries it as its event name too. */
function meanings(route: ModelRoute['path'], frames: readonly (object | string)[]): string[] {
  const dialect = dialectOf(route);
  return frames.map((frame) => {
    const name = typeof frame === 'object' && 'type' in frame ? String(frame.type) : 'message';
    return dialect.read({ name, data: typeof frame === 'string' ? frame : JSON.stringify(frame) }).kind;
  });
}

const chunk = (choices: object[], more: object = {}) => ({
  object: 'chat.completion.chunk',
  choices,
  ...more,
});
const choice = (delta: object, finish: string | null = null, index = 0) => ({
  index,
  delta,
  finish_reason: finish,
});
const chat = (frames: readonly (object | string)[]) => meanings('/v1/chat/completions', frames);

describe('a stream of chat completions', () => {
  it('begins with its first word, not with the role or empty values', () => {
    const frames = [
      chunk([], { prompt_filter_results: [{ prompt_index: 0 }] }),
      chunk([choice({ role: 'assistant', content: '', refusal: null, tool_calls: [] })]),
      chunk([choice({ role: 'assistant', content: null })]),
      '  ',
      chunk([choice({ content: 'Hi' })]),
      chunk([choice({}, 'stop')]),
      chunk([], { usage: { prompt_tokens: 1 } }),
      '[DONE]',
    ];
    expect(chat(frames)).toEqual([
      ...['lifecycle', 'lifecycle', 'lifecycle', 'lifecycle', 'content', 'finish', 'lifecycle', 'terminator'],
    ]);
  });

  it('says something with a tool call, a refusal, reasoning or audio', () => {
    const deltas = [
      { tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: '' } }] },
      { refusal: 'I' },
      { reasoning_content: 'Let' },
      { reasoning: 'Let' },
      { audio: { data: 'AAAA' } },
    ];
    for (const delta of deltas) expect(chat([chunk([choice(delta)])])).toEqual(['content']);
  });

  it('is finished when every choice is, and goes on where one still speaks', () => {
    const frames = [
      chunk([choice({ content: 'a' }, null, 0)]),
      chunk([choice({ content: 'b' }, null, 1)]),
      chunk([choice({}, 'stop', 0)]),
      chunk([choice({ content: 'c' }, null, 1)]),
      chunk([choice({}, 'length', 1)]),
    ];
    expect(chat(frames)).toEqual(['content', 'content', 'lifecycle', 'content', 'finish']);
  });

  it('fails with an error in either form', () => {
    expect(chat([{ error: { message: 'overloaded' } }])).toEqual(['error']);
    expect(dialectOf('/v1/completions').read({ name: 'error', data: '{"detail":1}' }).kind).toBe('error');
    expect(chat([{ error: null, choices: [choice({ content: 'x' })] }])).toEqual(['content']);
  });

  it('reads completions, whose choices hold text', () => {
    const frames = [{ choices: [{ text: '', index: 0 }] }, { choices: [{ text: 'Hi', index: 0 }] }];
    expect(meanings('/v1/completions', frames)).toEqual(['lifecycle', 'content']);
  });

  it('takes what it cannot read for content, so that nothing is held back for ever', () => {
    expect(chat(['not json', '[1]', '"text"'])).toEqual(['content', 'content', 'content']);
    expect(dialectOf('/v1/chat/completions').read({ name: 'message', data: undefined }).kind).toBe('content');
  });
});

describe('a stream of responses', () => {
  const responses = (frames: readonly (object | string)[]) => meanings('/v1/responses', frames);

  it('begins with the first delta and ends with the whole response', () => {
    const frames = [
      { type: 'response.created', response: {} },
      { type: 'response.in_progress', response: {} },
      { type: 'response.output_item.added', item: {} },
      { type: 'response.content_part.added', part: {} },
      { type: 'response.output_text.delta', delta: 'Hi' },
      { type: 'response.output_text.done', text: 'Hi' },
      { type: 'response.completed', response: { usage: { input_tokens: 1 } } },
    ];
    expect(responses(frames)).toEqual([
      ...['lifecycle', 'lifecycle', 'lifecycle', 'lifecycle', 'content', 'content', 'terminator'],
    ]);
  });

  it('knows reasoning, tool arguments and refusals as content, an incomplete end, and both failures', () => {
    const frames = ['reasoning_summary_text.delta', 'function_call_arguments.delta', 'refusal.delta'];
    for (const frame of frames) expect(responses([{ type: `response.${frame}` }])).toEqual(['content']);
    expect(responses([{ type: 'response.incomplete', response: {} }])).toEqual(['terminator']);
    expect(responses([{ type: 'response.failed', response: {} }])).toEqual(['error']);
    expect(responses([{ type: 'error', message: 'x' }])).toEqual(['error']);
  });

  it('numbers its own error event after the last one of the endpoint, in both known forms', () => {
    const dialect = dialectOf('/v1/responses');
    dialect.read({ name: 'response.created', data: '{"type":"response.created","sequence_number":6}' });
    const text = dialect.errorEvent({ code: 'upstream_interrupted' }, 'req-1');
    const data: unknown = JSON.parse(/^event: error\ndata: (.*)\n\n$/.exec(text)?.[1] ?? '');
    const error = { code: 'upstream_interrupted', message: expect.any(String), param: null };
    expect(data).toMatchObject({ ...error, type: 'error', sequence_number: 7, error });
  });

  it('ends with an event that is too long to be read, by its name', () => {
    expect(dialectOf('/v1/responses').read({ name: 'response.completed', data: undefined }).kind).toBe(
      'terminator',
    );
  });
});

describe('a stream of messages', () => {
  const messages = (frames: readonly (object | string)[]) => meanings('/v1/messages', frames);

  it('begins with the first delta, and is finished by its stop reason', () => {
    const frames = [
      { type: 'message_start', message: { usage: { input_tokens: 3 } } },
      { type: 'ping' },
      { type: 'content_block_start', content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'Hm' } },
      { type: 'content_block_stop' },
      { type: 'message_delta', delta: {}, usage: { output_tokens: 1 } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ];
    expect(messages(frames)).toEqual([
      ...['lifecycle', 'lifecycle', 'lifecycle', 'content', 'content', 'content', 'finish', 'terminator'],
    ]);
  });

  it('says something with the beginning of a tool call, and fails with an error event', () => {
    expect(messages([{ type: 'content_block_start', content_block: { type: 'tool_use' } }])).toEqual([
      'content',
    ]);
    expect(messages([{ type: 'error', error: { type: 'overloaded_error' } }])).toEqual(['error']);
  });

  it('tells of an error as the API does', () => {
    const text = dialectOf('/v1/messages').errorEvent({ code: 'upstream_interrupted' }, 'req-1');
    expect(text).toMatch(/^event: error\ndata: \{"type":"error","error":\{.*\n\n$/);
  });
});

describe('a stream of images, speech or transcriptions', () => {
  it('is content from the first event on, and fails with an error', () => {
    const frames = [
      { type: 'image_generation.partial_image' },
      { type: 'image_generation.completed' },
      { type: 'error', error: {} },
    ];
    expect(meanings('/v1/images/generations', frames)).toEqual(['content', 'content', 'error']);
    expect(dialectOf('/v1/audio/speech').endIsMarked).toBe(false);
  });
});
