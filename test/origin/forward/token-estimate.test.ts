import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../../origin/forward/token-estimate.ts';

const estimate = (body: object | string): number =>
  estimateTokens(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));

const text = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const empty = estimate(text(''));

describe('an estimate of tokens', () => {
  it('is a quarter of the bytes of what the model would read', () => {
    expect(estimate(text('x'.repeat(400))) - empty).toBe(100);
    expect(estimate(text('ü'.repeat(400))) - empty).toBe(200);
    expect(estimate({ ...text(''), system: 'x'.repeat(400) }) - empty).toBe(100);
    const tools = [{ name: 'weather', input_schema: { type: 'object' } }];
    expect(estimate({ ...text(''), tools })).toBeGreaterThan(empty);
  });

  it('does not count what the model does not read', () => {
    expect(estimate({ ...text(''), metadata: { user_id: 'x'.repeat(400) }, model: 'y'.repeat(100) })).toBe(
      empty,
    );
  });

  it('takes an image for what the largest one costs, and not for its base64', () => {
    const image = (bytes: number) => ({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(bytes) },
    });
    expect(estimate(text([image(10)]))).toBe(estimate(text([image(1_000_000)])));
    expect(estimate(text([image(10)])) - empty).toBeGreaterThanOrEqual(1_600);
  });

  it('is at least one, and takes any depth', () => {
    expect(estimate({})).toBe(1);
    const deep = `{"messages":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(estimate(deep)).toBe(1);
  });
});
