import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../../origin/forward/token-estimate.ts';

const estimate = (body: object | string): Promise<number> =>
  estimateTokens(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));

const text = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const empty = await estimate(text(''));

describe('an estimate of tokens', () => {
  it('is a quarter of the bytes of what the model would read', async () => {
    expect((await estimate(text('x'.repeat(400)))) - empty).toBe(100);
    expect((await estimate(text('ü'.repeat(400)))) - empty).toBe(200);
    expect((await estimate({ ...text(''), system: 'x'.repeat(400) })) - empty).toBe(100);
    const tools = [{ name: 'weather', input_schema: { type: 'object' } }];
    expect(await estimate({ ...text(''), tools })).toBeGreaterThan(empty);
  });

  it('is the same however the text is written', async () => {
    const escaped = (content: string) =>
      JSON.stringify(text(content)).replaceAll(/[^ -~]/g, (unit) =>
        Array.from({ length: unit.length }, (_, at) => unit.charCodeAt(at).toString(16).padStart(4, '0'))
          .map((hex) => `\\u${hex}`)
          .join(''),
      );
    const plain = fc.string({ unit: 'grapheme', maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(plain, async (content) => {
        expect(await estimate(escaped(content))).toBe(await estimate(text(content)));
      }),
    );
  });

  it('does not count what the model does not read', async () => {
    const more = { metadata: { user_id: 'x'.repeat(400) }, model: 'y'.repeat(100) };
    expect(await estimate({ ...text(''), ...more })).toBe(empty);
    expect(await estimate({ ...more, ...text('') })).toBe(empty);
  });

  it('takes an image for what the largest one costs, and not for its base64', async () => {
    const image = (bytes: number) => ({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(bytes) },
    });
    expect(await estimate(text([image(10)]))).toBe(await estimate(text([image(1_000_000)])));
    expect((await estimate(text([image(10)]))) - empty).toBeGreaterThanOrEqual(1_600);
    expect((await estimate(text([image(10), image(10)]))) - empty).toBeGreaterThanOrEqual(3_200);
    const words = { type: 'document', source: { type: 'text', data: 'x'.repeat(40_000) } };
    expect(await estimate(text([words]))).toBeGreaterThan(10_000);
  });

  it('is at least one, and takes any depth', async () => {
    expect(await estimate({})).toBe(1);
    const deep = `{"messages":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(await estimate(deep)).toBe(1);
  });

  it.each(['{}', '[]', '""', '0', '{"type":"base64"}'])(
    'gives other calls their turn all the while, with millions of %s',
    async (item) => {
      const body = `{"messages":[${`${item},`.repeat(Math.floor(4_000_000 / item.length))}${item}]}`;
      let done = false;
      let turns = 0;
      const others = (): void => {
        turns += 1;
        if (!done) setImmediate(others);
      };
      others();
      await estimate(body);
      done = true;
      expect(turns).toBeGreaterThan(body.length / 256 / 1024);
    },
  );
});
