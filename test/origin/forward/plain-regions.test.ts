import { describe, expect, it } from 'vitest';
import { BodyRegions } from '../../../origin/forward/body-regions.ts';
import { answersInJson, PlainRegions } from '../../../origin/forward/plain-regions.ts';

interface Plain {
  readonly mustBeJson?: boolean;
  readonly pieces?: number;
}

/** What is read of a whole body, in pieces of so many bytes. */
function read(body: string | Buffer, { mustBeJson = true, pieces = 7 }: Plain = {}): readonly string[] {
  const regions = new PlainRegions(new BodyRegions([['meta', 'region']]), mustBeJson);
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += pieces) regions.push(bytes.subarray(at, at + pieces));
  regions.end();
  return regions.values;
}

const said = (region: string, more = '') => `{"a":[1,{"meta":0}]${more},"meta":{"region":"${region}"}}`;

describe('what a plain answer says of its region', () => {
  it('is read wherever it is cut, and behind white space and a byte-order mark', () => {
    for (const pieces of [1, 2, 1_000]) {
      expect(read(said('us-east-1'), { pieces })).toEqual(['us-east-1']);
      expect(read(`\ufeff \n${said('us-east-1')}\n`, { pieces })).toEqual(['us-east-1']);
    }
    expect(read('{"a":1}')).toEqual([]);
    expect(read('')).toEqual([]);
  });

  it('is each of several, in whichever of two objects or twice in one', () => {
    expect(read('{"meta":{"region":"a"},"meta":{"region":"b","region":"c"}}')).toEqual(['a', 'b', 'c']);
  });

  it('cannot be read in a member that is longer than is kept', () => {
    expect(read(`{"meta":{"pad":"${'x'.repeat(70_000)}","region":"us-east-1"}}`)).toEqual(['']);
  });

  it('cannot be read in another encoding, in a text that is no object, or in half of one', () => {
    const json = said('us-east-1');
    for (const body of [
      Buffer.from(json, 'utf16le'),
      Buffer.from(`\ufeff${json}`, 'utf16le'),
      Buffer.from(`\ufeff${json}`, 'utf16le').swap16(),
      `[${json}]`,
      `data: ${json}\n\n`,
      '<html></html>',
      '{"choices":[',
    ]) {
      expect(read(body), String(body)).toContain('');
    }
  });

  it('is not missed in an answer that need not be JSON', () => {
    expect(read(said('us-east-1'), { mustBeJson: false })).toEqual(['us-east-1']);
    expect(read(Buffer.from(said('us-east-1'), 'utf16le'), { mustBeJson: false })).toEqual(['']);
  });

  it('has no room in sound or bare text', () => {
    for (const body of [Buffer.from([0xff, 0xf3, 0, 0, 0x7b]), 'Where is my parcel?', '<html></html>']) {
      expect(read(body, { mustBeJson: false })).toEqual([]);
    }
    expect(answersInJson('/v1/audio/speech')).toBe(false);
    expect(answersInJson('/v1/audio/transcriptions')).toBe(false);
    expect(answersInJson('/v1/chat/completions')).toBe(true);
  });
});
