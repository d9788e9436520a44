import { describe, expect, it } from 'vitest';
import { bodyFor, contradictionOf } from '../../../origin/admit/pinned.ts';
import { readWorkload } from '../../../origin/admit/workload.ts';
import { endpoint } from '../endpoints/endpoints.ts';

const own = endpoint({
  provider: 'anthropic',
  region: 'us',
  country: 'US',
  base_url: 'https://api.anthropic.com',
});
const claude = { endpoint: own, model: 'claude-x', reason: 'primary' };
const engine = { ...claude, endpoint: endpoint({ provider: 'anthropic', base_url: 'http://127.0.0.1:9' }) };

async function read(text: string) {
  const body = await readWorkload('json', 'application/json', Buffer.from(text), undefined);
  if (!body.ok) throw new Error(body.error.code);
  return body.value;
}

const upAs = async (text: string, candidate = claude) =>
  bodyFor(await read(text), candidate, '/v1/messages').toString();
const refusal = async (text: string, candidate = claude) =>
  contradictionOf(await read(text), [engine, candidate]);

describe('a body for Anthropic’s own host', () => {
  it('is told to run in us, and no other byte differs', async () => {
    expect(await upAs('{"model":"chat", "n":1e400, "a":0.1000}')).toBe(
      '{"inference_geo":"us","model":"claude-x", "n":1e400, "a":0.1000}',
    );
    expect(await upAs(' {"x":1,"inference_geo" : null ,"model":"chat"}')).toBe(
      ' {"x":1,"inference_geo" : "us" ,"model":"claude-x"}',
    );
    expect(await upAs('{"model":"chat","inference_geo":"\\u0075s"}')).toBe(
      '{"model":"claude-x","inference_geo":"us"}',
    );
  });

  it('is told so on no other route, and at no other engine', async () => {
    const text = '{"model":"chat","inference_geo":"eu"}';
    expect(await upAs(text, engine)).toBe('{"model":"claude-x","inference_geo":"eu"}');
    expect(bodyFor(await read('{"model":"chat"}'), claude, '/v1/messages/count_tokens').toString()).toBe(
      '{"model":"claude-x"}',
    );
  });

  it.each([
    '{"model":"chat","inference_geo":"global"}',
    '{"model":"chat","inference_geo":"US"}',
    '{"model":"chat","inference_geo":["us"]}',
    '{"model":"chat","inference_geo":true}',
    `{"model":"chat","inference_geo":"${'us'.repeat(1_000)}"}`,
    '{"inference_geo":"us","model":"chat","inference_geo":"us"}',
    `{"model":"chat","${[...'inference_geo'].map((c) => `\\u00${c.charCodeAt(0).toString(16)}`).join('')}":"global"}`,
  ])('is refused where it says something else, or says it twice: %#', async (text) => {
    expect(await refusal(text)).toMatchObject({ code: 'body_invalid', param: 'inference_geo' });
    expect(JSON.stringify(await refusal(text))).not.toContain('global');
    expect(await refusal(text, engine)).toBeUndefined();
  });

  it('passes where it says the same or nothing', async () => {
    for (const text of [
      '{"model":"chat"}',
      '{"model":"chat","inference_geo":"us"}',
      '{"model":"chat","inference_geo":null}',
      '{"model":"chat","metadata":{"inference_geo":"global"}}',
    ]) {
      expect(await refusal(text)).toBeUndefined();
    }
  });
});
