import { describe, expect, it } from 'vitest';
import { BodyRegions } from '../../../origin/forward/body-regions.ts';

const PATH = ['usage', 'inference_geo'];

function inEvents(...events: readonly unknown[]): readonly string[] {
  const regions = new BodyRegions(PATH);
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
    expect(inEvents('[DONE]', '{"usage":{"inference_geo":"us"', '"inference_geo"', 'null')).toEqual([]);
  });

  it('is each thing that it says, once, and what is no text is not passed over', () => {
    expect(inEvents(usage('us'), usage('us'), usage('global'))).toEqual(['us', 'global']);
    expect(inEvents(usage({ inference_geo: 'us' }))).toEqual(['']);
    expect(inEvents(usage(7), usage('x'.repeat(1_000)))).toEqual(['']);
    expect(inEvents(usage(null))).toEqual([]);
  });

  it('is bounded, however many things a stream says', () => {
    expect(inEvents(...Array.from({ length: 1_000 }, (_, at) => usage(`region-${at}`)))).toHaveLength(8);
  });

  it('is not found where only a prototype has it', () => {
    const regions = new BodyRegions(['constructor', 'name']);
    regions.readEvent('{"a":"name"}');
    regions.readMember('{}');
    expect(regions.values).toEqual([]);
  });
});
