import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventStreamReader, type Segment } from '../../../origin/forward/event-stream.ts';

interface Written {
  readonly name: string | undefined;
  readonly data: readonly string[];
}

/** Everything but the three line ends: among it U+0085, U+2028 and U+2029, which end no line. */
const line = fc
  .string({ unit: fc.oneof(fc.constantFrom('a', ':', ' ', 'é', '\u{1F600}', '\u0085', '\u2028', '\u2029')) })
  .filter((text) => !text.startsWith(' '));
const name = fc.option(fc.constantFrom('message_stop', 'error', 'é'), { nil: undefined });
const event: fc.Arbitrary<Written> = fc.record({
  name,
  data: fc.array(line, { minLength: 1, maxLength: 3 }),
});

const style = fc.record({
  newline: fc.constantFrom('\n', '\r\n', '\r'),
  space: fc.boolean(),
  comments: fc.boolean(),
  mark: fc.boolean(),
  finalBlank: fc.boolean(),
});

function written(
  events: readonly Written[],
  as: typeof style extends fc.Arbitrary<infer S> ? S : never,
): Buffer {
  const colon = as.space ? ': ' : ':';
  const blocks = events.map(({ name, data }) => [
    ...(as.comments ? [':keep-alive', ''] : []),
    ...(name === undefined ? [] : [`event${colon}${name}`]),
    ...(as.comments ? [': between'] : []),
    ...data.map((text) => `data${colon}${text}`),
    '',
  ]);
  const lines = blocks.flat();
  if (!as.finalBlank) lines.pop();
  return Buffer.from((as.mark ? '\ufeff' : '') + lines.map((text) => text + as.newline).join(''));
}

/** Reads a stream in pieces of the given sizes, over and over. */
function read(stream: Buffer, sizes: readonly number[], eventBytes?: number): Segment[] {
  const reader = new EventStreamReader(eventBytes);
  const segments: Segment[] = [];
  for (let at = 0, turn = 0; at < stream.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    segments.push(...reader.push(stream.subarray(at, at + size)));
    at += size;
  }
  const rest = reader.finish();
  return rest ? [...segments, rest] : segments;
}

const bytesOf = (segments: readonly Segment[]): Buffer => Buffer.concat(segments.map(({ bytes }) => bytes));
const eventsOf = (segments: readonly Segment[]) => segments.flatMap(({ event: found }) => found ?? []);
const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 4 });

describe('reading an event stream', () => {
  it('gives back every byte and every event, in any style and cut anywhere', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 6 }), style, sizes, (events, as, cut) => {
        const stream = written(events, as);
        const segments = read(stream, cut);
        expect(bytesOf(segments)).toEqual(stream);
        expect(eventsOf(segments)).toEqual(
          events.map(({ name, data }) => ({ name: name ?? 'message', data: data.join('\n') })),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('gives back every byte of anything at all', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        sizes,
        fc.integer({ min: 1, max: 64 }),
        (bytes, cut, limit) => {
          expect(bytesOf(read(Buffer.from(bytes), cut, limit))).toEqual(Buffer.from(bytes));
        },
      ),
    );
  });

  it('ends a segment exactly where an event ends, so that another can follow it', () => {
    const segments = read(Buffer.from('event: a\ndata: 1\n\n: hi\n\ndata: 2\r\n\r\ndata: 3'), [1]);
    expect(segments.map(({ bytes }) => bytes.toString())).toEqual([
      'event: a\ndata: 1\n\n',
      ': hi\n',
      '\n',
      'data: 2\r\n\r',
      '\ndata: 3',
    ]);
  });

  it('keeps CR LF together where both are there', () => {
    const [first] = read(Buffer.from('data: 1\r\n\r\ndata: 2\r\n\r\n'), [100]);
    expect(first?.bytes.toString()).toBe('data: 1\r\n\r\n');
  });

  it('passes an event that is too long to be held on unread, and reads the next one', () => {
    const stream = Buffer.from(`event: image\ndata: ${'x'.repeat(500)}\n\nevent: end\ndata: 1\n\n`);
    const segments = read(stream, [40], 100);
    expect(bytesOf(segments)).toEqual(stream);
    expect(Math.max(...segments.map(({ bytes }) => bytes.length))).toBeLessThan(200);
    expect(segments.filter(({ torn }) => torn).length).toBeGreaterThan(2);
    expect(eventsOf(segments)).toEqual([
      { name: 'image', data: undefined },
      { name: 'end', data: '1' },
    ]);
  });

  it('holds no more of an endless line than its limit', () => {
    const reader = new EventStreamReader(1_000);
    for (let turn = 0; turn < 1_000; turn += 1) {
      reader.push(Buffer.from('data: no end '.repeat(10)));
      expect(reader.openBytes).toBeLessThan(1_200);
    }
  });
});
