import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readObject } from '../../../origin/admit/json-object.ts';

const read = (text: string | Buffer, wanted = ['model']) => readObject(Buffer.from(text), wanted);

/** A value as JSON text, with white space where it may stand. */
const spaced = (value: unknown): string => JSON.stringify(value, null, 3);

function parses(text: string): boolean {
  try {
    return typeof JSON.parse(text) !== 'undefined';
  } catch {
    return false;
  }
}

describe('a JSON object that is read without being built', () => {
  it('is taken for one exactly where JSON.parse takes it for one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.boolean(), async (text, wide) => {
        const value: unknown = JSON.parse(text);
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
        expect((await read(wide ? spaced(value) : text)) !== undefined).toBe(isObject);
      }),
    );
  });

  it('is refused wherever JSON.parse refuses it, one byte being off', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.nat(),
        fc.constantFrom(...'{}[],:"\\0-+.eE tnu\n\u0001'),
        async (value, place, byte) => {
          const text = JSON.stringify(value);
          const at = place % text.length;
          const broken = text.slice(0, at) + byte + text.slice(at + 1);
          const whole = (await read(broken)) !== undefined;
          expect(whole).toBe(parses(broken) && broken.trim().startsWith('{'));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('says where the wanted members lie, however their names are written', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), async (rest, model) => {
        const text = spaced({ ...rest, model });
        const object = await read(text);
        const [member, ...others] = object?.members ?? [];
        expect(others).toEqual([]);
        const value = Buffer.from(text).toString('utf8', member?.start, member?.end);
        expect(JSON.parse(value)).toEqual(JSON.parse(JSON.stringify(model)));
      }),
    );
    const escaped = await read('{"a":{"model":1},"mod\\u0065l":"x","model":"y"}');
    expect(escaped?.members.map(({ text }) => text)).toEqual(['"x"', '"y"']);
  });

  it.each([
    ['{"Model":"x"}', true],
    ['{"MODEL":"x","model":"y"}', true],
    ['{"model":"x","models":[]}', false],
    ['{"a":{"Model":"x"}}', false],
  ])('%s has a namesake: %s', async (text, expected) => {
    expect((await read(text))?.hasNamesake).toBe(expected);
  });

  it.each([
    ['a byte-order mark', '\ufeff{}'],
    ['nothing', ''],
    ['blanks', '  \n'],
    ['two objects', '{}{}'],
    ['an array', '[]'],
    ['a string', '"{}"'],
    ['a line break in a string', '{"a":"\n"}'],
    ['an unknown escape', '{"a":"\\x41"}'],
    ['half an escape at the end', '{"a":"\\u00'],
    ['a number with a leading zero', '{"a":01}'],
    ['a bare minus', '{"a":-}'],
    ['a comma at the end', '{"a":1,}'],
    ['brackets that do not match', '{"a":[}'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])('is refused: %s', async (_, text) => {
    expect(await read(text)).toBeUndefined();
  });

  it('keeps numbers that no double can hold, and nesting that no stack could', async () => {
    expect(await read('{"a":1e400,"b":0.1000,"c":-0}')).toMatchObject({ isEmpty: false });
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(await read(deep)).toBeDefined();
    expect(await read(`{"a":${'['.repeat(2_000_000)}`)).toBeUndefined();
  });

  it('lets other work have its turn while it reads a text that was made to be costly', async () => {
    const costly = Buffer.from(`[${'{},'.repeat(3_000_000)}{}]`);
    let turns = 0;
    let running = true;
    const others = (async () => {
      while (running) {
        await new Promise((resolve) => setImmediate(resolve));
        turns += 1;
      }
    })();
    await readObject(Buffer.concat([Buffer.from('{"a":'), costly, Buffer.from('}')]), ['model']);
    running = false;
    await others;
    expect(turns).toBeGreaterThan(10);
  });
});
