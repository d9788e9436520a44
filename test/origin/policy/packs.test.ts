import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readPack } from '../../../origin/config/pack-files.ts';
import type { Pack } from '../../../shared/pack.ts';
import { PACK_NAMES, type PackName } from '../../../shared/policy.ts';
import { countriesOf } from '../../../shared/policy-rules.ts';
import { ZONE_COUNTRIES } from '../../../shared/zones.ts';
import { ask, outcome, pack, policy, rejection } from './world.ts';

const shipped = (name: PackName) => {
  const read = readPack(name);
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value.pack;
};

describe('the packs that ship', () => {
  it('are the files of the folder, each under its own name', () => {
    const folder = fileURLToPath(new URL('../../../origin/policy/packs', import.meta.url));
    expect(readdirSync(folder).sort()).toEqual(PACK_NAMES.map((name) => `${name}.yaml`).sort());
  });

  it.each(PACK_NAMES)('%s can be read and allows no country outside its zone', (name) => {
    const { jurisdiction, allow } = shipped(name);
    const zone: readonly string[] = ZONE_COUNTRIES[jurisdiction];
    expect([...countriesOf(allow.countries ?? [])].filter((country) => !zone.includes(country))).toEqual([]);
  });

  it('are strict where their names say so', () => {
    expect(shipped('eu-gdpr-strict')).toMatchObject({
      allow: { countries: ['EEA'], deployments: ['regional'] },
      forbid_unpinned: true,
    });
    expect(shipped('eu-ai-act-high-risk')).toMatchObject({
      require_approved_models: true,
      require_model_parity: true,
    });
    expect(shipped('eu-ai-act-high-risk').retention_days).toBeGreaterThanOrEqual(184);
    expect([...countriesOf(shipped('de-only').allow.countries ?? [])]).toEqual(['DE']);
  });
});

describe('a pack at run time', () => {
  const german = pack({ allow: { countries: ['DE'] } });
  const under = (...packs: readonly Pack[]) => ({ policy: policy({}, undefined, packs) });

  it('keeps out what it does not allow, and is named as the reason', () => {
    expect(outcome(under(german))).toBe('fra own');
    expect(rejection('dub', under(german))).toBe(
      'region eu-west-1 is in IE, which the pack de-only@1.0.0 does not allow',
    );
  });

  it('leaves nothing where two leave nothing together, and never everything', () => {
    const french = pack({ pack: 'eu-gdpr-strict', allow: { countries: ['FR'] } });
    expect(outcome(under(german, french))).toBe('region_blocked');
    const regions = [
      pack({ allow: { regions: ['eu-west-1'] } }),
      pack({ allow: { regions: ['eu-central-1'] } }),
    ];
    expect(outcome(under(...regions))).toBe('region_blocked');
  });

  it('opens nothing that the policy itself does not allow', () => {
    const wide = pack({ allow: { countries: ['EEA'], deployments: ['regional', 'zone', 'global'] } });
    expect(outcome({ policy: policy({ allow: { countries: ['IE'] } }, undefined, [wide]) })).toBe('dub');
  });

  it('of another zone lets nothing through', () => {
    expect(outcome(under(pack({ jurisdiction: 'us' })))).toBe('region_blocked');
    expect(rejection('fra', under(pack({ jurisdiction: 'us' })))).toBe(
      'the pack de-only@1.0.0 is not of the zone eu',
    );
  });

  it('that asks for a list of approved models lets no model through where there is none', () => {
    const demanding = [pack({ require_approved_models: true })];
    expect(ask(under(...demanding))).toMatchObject({ ok: false, error: { code: 'model_not_allowed' } });
    const listed = policy(
      { allow: { countries: ['EEA'], models: ['par-model-2026'] } },
      undefined,
      demanding,
    );
    expect(outcome({ policy: listed })).toBe('par');
  });
});
