import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packSchema } from '../../shared/pack.ts';
import { checkPacks, retentionOf, withinPacks } from '../../shared/pack-rules.ts';
import { policySchema } from '../../shared/policy.ts';
import { checkPolicy } from '../../shared/policy-rules.ts';

const pack = (change: Readonly<Record<string, unknown>> = {}) =>
  packSchema.parse({ pack: 'eu-gdpr-strict', version: '1', jurisdiction: 'eu', summary: 'x', ...change });

const failover = { primary: 'one' };
const policy = (change: Readonly<Record<string, unknown>> = {}) =>
  policySchema.parse({
    policy: 'p',
    version: '1',
    jurisdiction: 'eu',
    author: 'a',
    reviewer: 'b',
    allow: { countries: ['EEA'] },
    workloads: { chat: { class: 'l', failover } },
    ...change,
  });

const told = (found: readonly { path: readonly (string | number)[]; message: string }[]) =>
  found.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n');

const german = pack({ pack: 'de-only', allow: { countries: ['DE'], deployments: ['regional'] } });

describe('what a policy and its packs allow', () => {
  it('is the intersection of each list and the strictest grade of evidence', () => {
    const own = policy({
      allow: {
        countries: ['DE', 'FR'],
        regions: ['a', 'b'],
        deployments: ['regional', 'zone'],
        models: ['m'],
      },
    });
    const other = pack({ allow: { countries: ['EU'], regions: ['b', 'c'], region_evidence: 'hostname' } });
    expect(withinPacks(own, [german, other]).allow).toEqual({
      countries: ['DE'],
      regions: ['b'],
      deployments: ['regional'],
      models: ['m'],
      region_evidence: 'hostname',
    });
  });

  it('never grows by a further pack, in whatever order they are named', () => {
    const lists = fc.record(
      {
        countries: fc.subarray(['DE', 'FR', 'IE'], { minLength: 1 }),
        regions: fc.subarray(['a', 'b', 'c'], { minLength: 1 }),
        models: fc.subarray(['m', 'n'], { minLength: 1 }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(lists, lists, (one, other) => {
        const packs = [pack({ allow: one }), pack({ allow: other })];
        const both = withinPacks(policy(), packs).allow;
        if (checkPacks(policy(), packs).length > 0) return;
        expect(new Set(both.countries)).toEqual(
          new Set(withinPacks(policy(), packs.toReversed()).allow.countries),
        );
        const [first] = packs;
        const alone = withinPacks(policy(), first ? [first] : []).allow;
        expect(alone.countries).toEqual(expect.arrayContaining(both.countries));
        if (alone.regions.length > 0) expect(alone.regions).toEqual(expect.arrayContaining(both.regions));
      }),
    );
  });

  it.each([
    ['countries', { countries: ['FR'] }, {}],
    ['regions', { countries: ['EEA'], regions: ['a'] }, { regions: ['b'] }],
    ['deployments', { countries: ['EEA'], deployments: ['zone'] }, {}],
    ['models', { countries: ['EEA'], models: ['m'] }, { models: ['n'] }],
  ])(
    'is a fault where nothing is left of the %s: an empty list would mean no limit',
    (list, allow, further) => {
      const packs = [pack({ ...german, allow: { ...german.allow, ...further } })];
      expect(told(checkPacks(policy({ allow }), packs))).toContain(
        `allow.${list}: nothing is left: the pack de-only@1 allows none of what is allowed without it`,
      );
    },
  );

  it('is a fault where two packs leave nothing together, though each agrees with the policy', () => {
    const french = pack({ allow: { countries: ['FR'] } });
    expect(told(checkPacks(policy(), [german]))).toBe('');
    expect(told(checkPacks(policy(), [german, french]))).toContain('the pack eu-gdpr-strict@1 allows none');
  });
});

describe('a policy that contradicts a pack', () => {
  it('by its zone', () => {
    const foreign = pack({ pack: 'us', jurisdiction: 'us' });
    expect(told(checkPacks(policy({ packs: ['de-only', 'us'] }), [german, foreign]))).toBe(
      'packs.1: the pack us is of the zone us, the policy of eu',
    );
  });

  it('by naming it twice', () => {
    expect(told(checkPacks(policy({ packs: ['de-only', 'de-only'] }), [german, german]))).toBe(
      'packs.1: the pack de-only stands here twice',
    );
  });

  it('by a workload that is not pinned', () => {
    const open = policy({ workloads: { chat: { class: 'l', pinned: false, reason: 'public', failover } } });
    expect(told(checkPacks(open, [german]))).toBe('');
    expect(told(checkPacks(open, [pack({ forbid_unpinned: true })]))).toBe(
      'workloads.chat.pinned: the pack eu-gdpr-strict@1 forbids workloads that are not pinned',
    );
  });

  it('by a missing list of approved models', () => {
    const demanding = [pack({ require_approved_models: true })];
    expect(told(checkPacks(policy(), demanding))).toContain('allow.models: is empty');
    expect(told(checkPacks(policy({ allow: { countries: ['EEA'], models: ['m'] } }), demanding))).toBe('');
  });

  it('by an exception that the pack does not allow, although the policy itself does', () => {
    const french = policy({ tenants: { acme: { allow: { countries: ['FR'] } } } });
    expect(told(checkPolicy(french))).toBe('');
    expect(told(checkPacks(french, [german]))).toBe(
      'tenants.acme.allow.countries: FR is not allowed by the pack de-only@1 itself: an exception can only narrow',
    );
  });
});

describe('retention', () => {
  const six_months = pack({ retention_days: 184 });

  it.each([
    ['the longest that is asked for', 30, 184],
    ['the policy’s where that is longer', 400, 400],
  ])('is %s', (_, own, kept) => {
    expect(retentionOf(policy({ retention_days: own }), [german, six_months])).toBe(kept);
  });

  it('is for ever where the policy names no number, whatever a pack asks for', () => {
    expect(retentionOf(policy(), [six_months])).toBeUndefined();
  });
});

describe('a workload that is not pinned', () => {
  const chat = (member: object) => policy({ workloads: { chat: { class: 'l', failover, ...member } } });

  it('has to say why, and one that is pinned has nothing to say', () => {
    expect(told(checkPolicy(chat({ pinned: false })))).toBe(
      'workloads.chat: is not pinned: say in "reason" why it need not be',
    );
    expect(told(checkPolicy(chat({ pinned: false, reason: 'public texts only' })))).toBe('');
    expect(told(checkPolicy(chat({ reason: 'public texts only' })))).toContain('pinned: false only');
  });

  it.each(['', ' ', 'two\nlines', 'x'.repeat(257), '🔒'.repeat(257), 'bell\u0007'])(
    'has a reason that a record can hold: not %j',
    (reason) => {
      expect(() => chat({ pinned: false, reason })).toThrow();
    },
  );
});
