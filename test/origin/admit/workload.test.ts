import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ReadBody, readWorkload } from '../../../origin/admit/workload.ts';

const OWN = 'vendor.own-model-20260101-v1:0';

const read = (text: string | Buffer, named?: string) =>
  readWorkload('json', 'application/json', Buffer.from(text), named);

async function readOk(text: string | Buffer, named?: string): Promise<ReadBody> {
  const body = await read(text, named);
  if (!body.ok) throw new Error(`refused: ${body.error.code}`);
  return body.value;
}

/** The body that an endpoint would get. */
const forwarded = async (text: string, named?: string): Promise<string> =>
  (await readOk(text, named)).withModel(OWN).toString('utf8');

const refusalOf = async (text: string | Buffer, named?: string) => {
  const body = await read(text, named);
  return body.ok ? undefined : body.error;
};

describe('a JSON body on its way to an endpoint', () => {
  it.each([
    [
      'numbers that no double can hold',
      '{"model":"M","temperature":0.1000,"seed":1e400,"n":12345678901234567890}',
    ],
    [
      'escapes and characters of all planes',
      '{"model":"M","x":"\\u00e9 \\ud83d\\ude00 \\/ é 😀 \\u2028 \u2028"}',
    ],
    ['white space and key order', ' \n{\t"z" : [ 1 ,2 ] ,\r\n "model"  :  "M" , "a":{ } }\n '],
    ['unknown and repeated fields', '{"x_vendor":{"model":"M"},"stop":1,"model":"M","stop":2}'],
    ['a name written in escapes', '{"mod\\u0065l":"M","b":1}'],
    ['a prompt that quotes a body', '{"prompt":"{\\"model\\":\\"M\\"}","model":"M"}'],
    ['a name of the language', '{"__proto__":{"model":"x"},"model":"M","constructor":null}'],
  ])('keeps %s, with only the value of model changed', async (_, text) => {
    const before = text.replace(/(?<!\\)"M"(?!.*(?<!\\)"M")/s, '"support"');
    const after = text.replace(/(?<!\\)"M"(?!.*(?<!\\)"M")/s, JSON.stringify(OWN));
    expect((await readOk(before)).workload).toBe('support');
    expect(await forwarded(before)).toBe(after);
  });

  it('differs from what was sent in nothing but the model, for any JSON object', async () => {
    const json = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(json, fc.nat(), async (members, place) => {
        const { model: _, ...rest } = members;
        const names = Object.keys(rest);
        const at = place % (names.length + 1);
        const text = (value: string) => {
          const parts = names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(rest[name])}`);
          return `{${parts.toSpliced(at, 0, `"model": ${JSON.stringify(value)}`).join(', ')}}`;
        };
        expect(await forwarded(text('support'))).toBe(text(OWN));
      }),
    );
  });

  it('gets the model put in where only x-workload names it', async () => {
    expect(await forwarded('{"prompt":"a lake"}', 'draw')).toBe(`{"model":"${OWN}","prompt":"a lake"}`);
    expect(await forwarded(' { } ', 'draw')).toBe(` {"model":"${OWN}" } `);
    expect(JSON.parse(await forwarded('{"__proto__":1}', 'draw'))).toHaveProperty('model', OWN);
  });

  it('is read by its own model where x-workload says otherwise', async () => {
    expect((await readOk('{"model":"support"}', 'other')).workload).toBe('support');
  });

  it('asks for a stream only with the very value true', async () => {
    const bodies = ['true', 'false', '"true"', '1', 'null'].map((value) =>
      readOk(`{"model":"m","stream":${value}}`),
    );
    const streams = (await Promise.all(bodies)).map(({ stream }) => stream);
    expect(streams).toEqual([true, false, false, false, false]);
  });
});

describe('a JSON body that is refused', () => {
  it.each([
    ['nothing at all', ''],
    ['two models', '{"model":"a","model":"a"}'],
    ['two models, one of them in escapes', '{"model":"a","\\u006dodel":"b"}'],
    ['a model that is a number', '{"model":1}'],
    ['a model that is an object', '{"model":{"model":"a"}}'],
    ['no model but null', '{"model":null}'],
    ['an array', '[{"model":"a"}]'],
    ['a string', '"model"'],
    ['half an object', '{"model":"a"'],
    ['something behind the object', '{"model":"a"}{"model":"b"}'],
    ['a byte-order mark', '\ufeff{"model":"a"}'],
    ['a comment', '{"model":"a"/**/}'],
    ['numbers of another language', '{"model":"a","n":NaN}'],
  ])('%s', async (_, text) => {
    expect(await refusalOf(text, 'support')).toMatchObject({ code: 'body_invalid' });
  });

  it('bytes that are not UTF-8', async () => {
    const latin1 = Buffer.from('{"model":"a","prompt":"\xe9"}', 'latin1');
    const utf16 = Buffer.from('{"model":"a"}', 'utf16le');
    for (const bytes of [latin1, utf16])
      expect(await refusalOf(bytes)).toMatchObject({ code: 'body_invalid' });
  });

  it('a hundred thousand nested arrays, without a word of them in the answer', async () => {
    const nested = `{"model":"support","a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const body = await read(nested);
    expect(body.ok || body.error.code === 'body_invalid').toBe(true);
  });

  it('a body that names no workload, by itself or by a header', async () => {
    expect(await refusalOf('{"prompt":"x"}')).toEqual({ code: 'workload_unknown', why: 'unnamed' });
    expect(await refusalOf('{"model":""}')).toEqual({ code: 'workload_unknown', why: 'unnamed' });
  });

  it.each(['a b', 'a\\nb', '../x', ' support', 'sup\\u0000port', 'x'.repeat(129), 'ｓupport'])(
    'a model whose name no workload can have: %s',
    async (name) => {
      expect(await refusalOf(`{"model":"${name}"}`)).toEqual({
        code: 'workload_unknown',
        why: 'not_in_policy',
      });
    },
  );

  it('and says nothing of what it held', async () => {
    const texts = [
      '{"model":"MARKER"',
      '{"model":["MARKER"]}',
      '{"model":"MARKER","model":"MARKER"}',
      '{"model":"MARKER x"}',
    ];
    for (const text of texts) expect(JSON.stringify(await refusalOf(text))).not.toContain('MARKER');
  });
});
