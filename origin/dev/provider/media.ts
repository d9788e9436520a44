import { createHash } from 'node:crypto';
import { type Answer, bytes, DONE, events, type Frame, json, named } from './answer.ts';
import { usage } from './responses.ts';
import { CREATED, pieces, type Task } from './task.ts';

/** A transparent PNG of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

/** `POST /images/generations`: base64 images, or a stream with one partial image. */
export function images(task: Task): Answer {
  const counts = usage(task);
  if (!task.streamed) {
    const data = Array.from({ length: task.asked.n ?? 1 }, () => ({ b64_json: PIXEL }));
    return json({ created: CREATED, data, usage: counts });
  }
  const image = { b64_json: PIXEL, created_at: CREATED, size: '1024x1024', quality: 'low' };
  const format = { background: 'auto', output_format: 'png' };
  const partial = { type: 'image_generation.partial_image', partial_image_index: 0, ...image, ...format };
  const completed = { type: 'image_generation.completed', ...image, ...format, usage: counts };
  return events([named('content', partial), named('terminator', completed)]);
}

/** Bytes of the audio that speech answers with: `text` (or `textBytes`) of it is what the order says. */
const audioOf = (task: Task): Buffer =>
  Buffer.concat([Buffer.from('ID3\u0004', 'latin1'), Buffer.from(task.text)]);

/** `POST /audio/speech`: binary audio, or events with `stream_format: "sse"`. */
export function speech(task: Task): Answer {
  const format = typeof task.asked.response_format === 'string' ? task.asked.response_format : 'mp3';
  const audio = audioOf(task);
  if (!task.streamed) return bytes(format === 'mp3' ? 'audio/mpeg' : `audio/${format}`, audio);
  const delta = { type: 'speech.audio.delta', audio: audio.toString('base64') };
  const done = { type: 'speech.audio.done', usage: usage(task) };
  return events([named('content', delta), named('terminator', done)]);
}

/** `POST /audio/transcriptions`: JSON in two forms, text, or a stream. */
export function transcriptions(task: Task): Answer {
  if (task.streamed) return events(transcript(task));
  const counts = task.usage && { type: 'tokens', ...usage(task) };
  switch (task.asked.response_format) {
    case 'text':
    case 'srt':
    case 'vtt':
      return bytes('text/plain; charset=utf-8', `${task.text}\n`);
    case 'verbose_json': {
      const whole = { task: 'transcribe', language: 'english', duration: 1.5, text: task.text };
      return json({ ...whole, segments: [], usage: { type: 'duration', seconds: 2 } });
    }
    default:
      return json({ text: task.text, usage: counts });
  }
}

function* transcript(task: Task): Generator<Frame> {
  for (const delta of pieces(task.text)) {
    yield named('content', { type: 'transcript.text.delta', delta });
  }
  yield named('closing', { type: 'transcript.text.done', text: task.text, usage: usage(task) });
  yield DONE;
}

/** Length of a vector when the request names none. */
const DIMENSIONS = 8;

/** `POST /embeddings`: a vector per input, derived from it; as numbers, or as base64 of little-endian floats. */
export function embeddings(task: Task): Answer {
  const { input, encoding_format: format, dimensions } = task.asked;
  const inputs = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
  const data = inputs.map((one, index) => {
    const floats = vector(JSON.stringify(one ?? ''), dimensions ?? DIMENSIONS);
    const embedding = format === 'base64' ? Buffer.from(floats.buffer).toString('base64') : [...floats];
    return { object: 'embedding', index, embedding };
  });
  const counts = task.usage && { prompt_tokens: task.usage.input, total_tokens: task.usage.input };
  return json({ object: 'list', data, model: task.model, usage: counts });
}

function vector(text: string, length: number): Float32Array {
  const digest = createHash('sha256').update(text).digest();
  return Float32Array.from({ length }, (_, at) => (digest[at % digest.length] ?? 0) / 255);
}

/** `POST /moderations`: nothing is ever flagged. */
export function moderations(task: Task): Answer {
  const { input } = task.asked;
  const verdict = {
    flagged: false,
    categories: { violence: false },
    category_scores: { violence: 0.0001 },
    category_applied_input_types: { violence: ['text'] },
  };
  const results = (Array.isArray(input) ? input : [input]).map(() => verdict);
  return json({ id: `modr-${task.id}`, model: task.model, results });
}
