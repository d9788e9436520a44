import { describe, expect, it } from 'vitest';
import { loadConfig, type OriginConfig } from '../../../origin/config.ts';
import { COSIGNATURE } from '../../independent/note.ts';
import { newLogSigner, newWitnessSigner, vkeyOf } from '../../independent/signer.ts';
import { ENVIRONMENT, ORIGIN, ORIGIN_KEY, originFiles } from './origin-files.ts';

const [one, two] = ['one', 'two'].map((name) => newWitnessSigner(`witness.example/${name}`).vkey);

const loaded = (members: string, from = ORIGIN) =>
  loadConfig(originFiles({ 'eu.yaml': `${from}${members}` }), ENVIRONMENT);

function config(members: string): OriginConfig {
  const read = loaded(members);
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value;
}

const faults = (members: string, from = ORIGIN): string => {
  const read = loaded(members, from);
  return read.ok ? '' : read.error.map(({ path, message }) => `${path}: ${message}`).join('\n');
};

const witness = (vkey = '', url = 'https://witness.example/w/') => `  - { vkey: "${vkey}", url: "${url}" }\n`;

describe('the witnesses of a log', () => {
  it('are none where none are named, and then nothing is ever witnessed', () => {
    const { witnesses, witnessQuorum } = config('');
    expect([witnesses, witnessQuorum]).toEqual([[], 0]);
  });

  it('all have to cosign, unless a smaller number is named', () => {
    const both = `witnesses:\n${witness(one)}${witness(two, 'http://127.0.0.1:9999')}`;
    const { witnesses, witnessQuorum } = config(both);
    expect(witnesses.map(({ key, url }) => [key.name, url.href])).toEqual([
      ['witness.example/one', 'https://witness.example/w/'],
      ['witness.example/two', 'http://127.0.0.1:9999/'],
    ]);
    expect(witnessQuorum).toBe(2);
    expect(config(`${both}witness_quorum: 1\n`).witnessQuorum).toBe(1);
  });

  it.each([
    [
      'a key that is none',
      witness('witness.example/w+00000000+AAAA'),
      'witnesses[0].vkey: is no verifier key',
    ],
    ['a key whose id is of another name', witness(one?.replace('/one', '/two')), 'the key id does not fit'],
    [
      'a key for notes',
      witness(newLogSigner('w.example').vkey),
      'name the key that the witness cosigns with',
    ],
    [
      'one key under two names',
      witness(one) + witness(one),
      'witnesses[1].vkey: is the key of a witness above',
    ],
    [
      "the log's own key",
      witness(vkeyOf('w.example', COSIGNATURE, ORIGIN_KEY.private.x ?? '')),
      'witnesses[0].vkey: is the key of this log',
    ],
    ['plain http', witness(one, 'http://witness.example/'), 'witnesses[0].url: is http'],
    ['a password', witness(one, 'https://user:word@witness.example/'), 'leave it out'],
    ['a query', witness(one, 'https://witness.example/?a=b'), 'leave it out'],
    ['no URL', witness(one, 'witness.example'), 'is not an https URL'],
    [
      'more than there are',
      `${witness(one)}witness_quorum: 2\n`,
      'witness_quorum: asks for 2 witnesses, and there are 1',
    ],
    ['none of them', `${witness(one)}witness_quorum: 0\n`, 'witness_quorum: '],
    [
      'a member nobody knows',
      `  - { vkey: "${one}", url: "https://w.example", name: w }\n`,
      'is not a member',
    ],
  ])('are refused with %s', (_, members, words) => {
    expect(faults(`witnesses:\n${members}`)).toContain(words);
  });

  it('cannot be asked for where there are none', () => {
    expect(faults('witness_quorum: 1\n')).toContain('asks for 1 witnesses, and there are 0');
  });
});

describe('the name of a log', () => {
  it.each(['cosignature/v1', '"a b"', 'a+b', '"a\\u00a0b"', '""'])('is not %s', (name) => {
    expect(faults('', ORIGIN.replace('log_name: residency.example/eu', `log_name: ${name}`))).toContain(
      'log_name: ',
    );
  });
});
