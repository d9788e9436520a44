import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Member, MemberScanner } from '../../shared/json-members.ts';

const KEEP_BYTES = 1_000_000;

/** What the scanner finds in a text that arrives in pieces, cut at these places. */
function scan(text: string, cuts: readonly number[] = [], keepBytes = KEEP_BYTES): readonly Member[] {
  const bytes = Buffer.from(text);
  const scanner = new MemberScanner(['model', 'usage'], keepBytes);
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const to of [...places, bytes.length]) {
    scanner.push(bytes.subarray(from, to));
    from = to;
  }
  return scanner.found;
}

/** The value that a member's span holds, as JSON. */
const valueAt = (text: string, { start, end }: Member): unknown =>
  JSON.parse(Buffer.from(text).subarray(start, end).toString('utf8'));

const space = fc.stringMatching(/^[ \t\n\r]{0,3}$/);
const names = fc.oneof(
  fc.constantFrom('model', 'usage', 'Model', 'model ', 'models', '', '"model"', 'mo\\del', '}', '{"model"'),
  fc.string({ unit: 'binary' }),
);
const values = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.dictionary(names, fc.jsonValue({ maxDepth: 1 })),
  fc.array(fc.constantFrom('model', { model: 'inner', usage: 1 }, '\\', '\\"', ']', '",')),
);

/** A string as JSON, each character written plainly or as an escape of its UTF-16 units. */
const written = (text: string, escapes: readonly boolean[]): string => {
  const units = text.split('').map((unit, index) => {
    const escaped = `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
    const surrogate = /[\ud800-\udfff]/.test(unit);
    return escapes[index % escapes.length] || surrogate ? escaped : JSON.stringify(unit).slice(1, -1);
  });
  return `"${units.join('')}"`;
};

const members = fc.array(
  fc.record({
    name: names,
    value: values,
    escapes: fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }),
    spaces: fc.tuple(space, space, space, space),
    indent: fc.constantFrom(0, 1, 2),
  }),
  { maxLength: 6 },
);

/** Objects written in all the ways that JSON allows, with names that occur more than once. */
const objects = fc.tuple(members, space).map(([list, outer]) => {
  const parts = list.map(({ name, value, escapes, spaces: [before, after, lead, trail], indent }) => {
    const json = JSON.stringify(value, undefined, indent);
    return `${before}${written(name, escapes)}${after}:${lead}${json}${trail}`;
  });
  return { list, text: `${outer}{${parts.join(',')}}${outer}` };
});

describe('the member scanner', () => {
  it('finds each outer model and usage, in whatever pieces and spelling they come, and nothing else', () => {
    fc.assert(
      fc.property(objects, fc.array(fc.nat(), { maxLength: 12 }), ({ list, text }, cuts) => {
        const wanted = list
          .filter(({ name }) => name === 'model' || name === 'usage')
          .map(({ name, value }) => [name, JSON.parse(JSON.stringify(value))]);
        const found = scan(text, cuts);
        expect(found.map((member) => [member.name, valueAt(text, member)])).toEqual(wanted);
        for (const member of found) expect(JSON.parse(member.text ?? '')).toEqual(valueAt(text, member));
      }),
      { numRuns: 500 },
    );
  });

  it('agrees with JSON.parse on the last of several members of one name', () => {
    fc.assert(
      fc.property(objects, ({ text }) => {
        const parsed: unknown = JSON.parse(text);
        const last = scan(text).findLast(({ name }) => name === 'model');
        const value =
          typeof parsed === 'object' && parsed !== null && 'model' in parsed ? parsed.model : undefined;
        expect(last && valueAt(text, last)).toEqual(value);
      }),
      { numRuns: 300 },
    );
  });

  it('finds the same when every byte comes by itself', () => {
    const text =
      ' { "a\\\\" : "\\"model\\":1" , "mod\\u0065l" : "x\\\\\\"y" ,\n"usage":{"n":[1,{"usage":2}]} } ';
    const cuts = Array.from({ length: text.length }, (_, index) => index);
    expect(scan(text, cuts)).toEqual(scan(text));
    expect(scan(text).map((member) => [member.name, valueAt(text, member)])).toEqual([
      ['model', 'x\\"y'],
      ['usage', { n: [1, { usage: 2 }] }],
    ]);
  });

  it.each(['12', '-0.1000', '1e400', 'true', 'null', '""', '[]', '{}', '[ {"model":1} ]'])(
    'gives the span of the value %s without the white space around it',
    (value) => {
      const text = `{"model"\t:\r\n${value} \n}`;
      const [member] = scan(text);
      expect(text.slice(member?.start, member?.end)).toBe(value);
    },
  );

  it('takes a name that is written in escapes throughout', () => {
    expect(scan('{"\\u006d\\u006f\\u0064\\u0065\\u006c":1}')).toMatchObject([{ name: 'model' }]);
  });

  it('keeps no more of a value than it was told to, and still knows where it lies', () => {
    const [member] = scan('{"usage":{"a":[1,2,3]}}', [], 4);
    expect(member).toEqual({ name: 'usage', start: 9, end: 22, text: undefined });
  });

  it('never throws, whatever it is given', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (pieces) => {
        const scanner = new MemberScanner(['model'], 64);
        for (const piece of pieces) scanner.push(Buffer.from(piece));
      }),
    );
    const broken = fc.array(fc.constantFrom(...'{}[]",:\\mode l1'.split(''), '"model"'), { maxLength: 40 });
    fc.assert(fc.property(broken, (pieces) => void scan(pieces.join(''))));
  });
});
