import { describe, expect, it } from 'vitest';
import { BodyRegions, regionsIn } from '../../../origin/forward/body-regions.ts';

const PATH = ['usage', 'inference_geo'];

function inEvents(...events: readonly unknown[]): readonly string[] {
  const regions = new BodyRegions([PATH]);
  for (const event of events) regions.readEvent(typeof event === 'string' ? event : JSON.stringify(event));
  return regions.values;
}

const usage = (inference_geo: unknown) => ({ usage: { inference_geo } });

describe('what a body says of its region', () => {
  it('stands at the path, in an event or in the message or response that it holds', () => {
    expect(inEvents({ type: 'message_start', message: usage('us') })).toEqual(['us']);
    expect(inEvents({ type: 'response.completed', response: usage('us') })).toEqual(['us']);
    expect(inEvents({ choices: [], ...usage('us') })).toEqual(['us']);
  });

  it('is not what the answer itself talks of', () => {
    expect(inEvents({ delta: usage('global') }, { text: JSON.stringify(usage('global')) })).toEqual([]);
    expect(inEvents('[DONE]', '"inference_geo"', 'null', '', 'ping', '["inference_geo"]')).toEqual([]);
  });

  it('is each thing that it says, once, and what is no text is not passed over', () => {
    expect(inEvents(usage('us'), usage('us'), usage('global'))).toEqual(['us', 'global']);
    for (const value of [{ inference_geo: 'us' }, 7, true, ['us'], 'x'.repeat(1_000)]) {
      expect(inEvents(usage(value))).toEqual(['']);
    }
    for (const value of [['inference_geo'], 7, 'inference_geo']) {
      expect(inEvents(JSON.stringify({ usage: value, more: usage('us') }))).toEqual(['']);
    }
    expect(inEvents(usage(null), { usage: null, more: usage('us') })).toEqual([]);
  });

  it('is each of several members of one name, whichever a reader would take', () => {
    expect(inEvents('{"usage":{"inference_geo":"us","inference_geo":"global"}}')).toEqual(['us', 'global']);
    expect(inEvents('{"usage":{"inference_geo":"us"},"usage":{"inference_geo":"eu"}}')).toEqual(['us', 'eu']);
    const twice = '{"message":{"usage":{"inference_geo":"us"}},"message":{"usage":{"inference_geo":"eu"}}}';
    expect(inEvents(twice)).toEqual(['us', 'eu']);
  });

  it('is found under names and in values that are written in escapes', () => {
    const escaped = '{"us\\u0061ge":{"inf\\u0065rence_geo":"\\u0075s"}}';
    expect(inEvents(escaped)).toEqual(['us']);
    const name = [...'inference_geo'].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
    expect(inEvents(`{"usage":{"${name.join('')}":"us"}}`)).toEqual(['us']);
  });

  it('cannot be read in an event that is not whole, or too long to be held', () => {
    expect(inEvents('{"usage":{"inference_geo":"us"')).toEqual(['']);
    const regions = new BodyRegions([PATH]);
    regions.readEvent(undefined);
    expect(regions.values).toEqual(['']);
  });

  it('stands at each of several paths', () => {
    const paths = [PATH, ['meta', 'region'], ['region']];
    const json = { region: 'a', meta: { region: 'b' }, usage: { inference_geo: 'c' } };
    expect(regionsIn(json, paths).toSorted()).toEqual(['a', 'b', 'c']);
    expect(regionsIn(json, [])).toEqual([]);
  });

  it('is bounded, however many things a stream says', () => {
    const found = inEvents(...Array.from({ length: 1_000 }, (_, at) => usage(`region-${at}`)));
    expect(found).toHaveLength(9);
    expect(found.at(-1)).toBe('');
  });

  it('is not found where only a prototype has it', () => {
    const regions = new BodyRegions([['constructor', 'name']]);
    regions.readEvent('{"a":"name"}');
    regions.readMember('constructor', Buffer.from('{}'));
    expect(regions.values).toEqual([]);
  });
});
