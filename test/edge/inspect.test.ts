import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inspect } from '../../edge/inspect.ts';
import { ZONES } from '../../shared/zones.ts';
import { keyOf } from '../support/edge.ts';

const inspectAll = (headers: Readonly<Record<string, string>>) =>
  inspect((name) => (Object.hasOwn(headers, name) ? (headers[name] ?? null) : null));

const outcomeOf = (headers: Readonly<Record<string, string>>) => {
  const claim = inspectAll(headers);
  return claim.ok ? `${claim.value.tenant} in ${claim.value.jurisdiction}` : claim.error.refusal.code;
};

const acmeKey = { authorization: `Bearer ${keyOf('acme')}` };

describe('the jurisdiction', () => {
  it.each([
    ['eu', 'acme in eu'],
    [' \teu ', 'acme in eu'],
    ['eu,eu', 'acme in eu'],
    ['eu , eu', 'acme in eu'],
    ['', 'jurisdiction_missing'],
    ['  ', 'jurisdiction_missing'],
    [',', 'jurisdiction_missing'],
    ['eu,us', 'jurisdiction_ambiguous'],
    ['eu,', 'jurisdiction_ambiguous'],
    [',eu', 'jurisdiction_ambiguous'],
    ['eu,EU', 'jurisdiction_ambiguous'],
    ['EU', 'jurisdiction_unknown'],
    ['Eu', 'jurisdiction_unknown'],
    ['de', 'jurisdiction_unknown'],
    ['eu-west-1', 'jurisdiction_unknown'],
    ['eu;q=1', 'jurisdiction_unknown'],
    ['"eu"', 'jurisdiction_unknown'],
    ['eu\u00a0', 'jurisdiction_unknown'],
    ['\uff45\uff55', 'jurisdiction_unknown'],
    ['constructor', 'jurisdiction_unknown'],
    ['__proto__', 'jurisdiction_unknown'],
    ['eu'.repeat(4096), 'jurisdiction_unknown'],
  ])('%j is %s', (tag, outcome) => {
    expect(outcomeOf({ 'x-jurisdiction': tag, ...acmeKey })).toBe(outcome);
  });

  it('is asked for before anything else is', () => {
    expect(outcomeOf({})).toBe('jurisdiction_missing');
  });
});

describe('the tenant', () => {
  const named = (headers: Record<string, string>) => outcomeOf({ 'x-jurisdiction': 'eu', ...headers });

  it.each<[string, Record<string, string>, string]>([
    ['by the key alone', acmeKey, 'acme in eu'],
    ['by a key in x-api-key', { 'x-api-key': keyOf('acme') }, 'acme in eu'],
    ['by a key without the word Bearer', { authorization: keyOf('acme') }, 'acme in eu'],
    ['by the same key twice', { ...acmeKey, 'x-api-key': keyOf('acme') }, 'acme in eu'],
    ['by header and key', { 'x-tenant-id': 'acme', ...acmeKey }, 'acme in eu'],
    ['by the same header twice', { 'x-tenant-id': 'acme, acme', ...acmeKey }, 'acme in eu'],
    ['by the header, with a foreign key', { 'x-tenant-id': 'acme', 'x-api-key': 'sk-ant-1' }, 'acme in eu'],
    ['by one of two credentials', { authorization: 'Bearer sk-1', 'x-api-key': keyOf('acme') }, 'acme in eu'],
    ['by a header of two values', { 'x-tenant-id': 'acme, usco', ...acmeKey }, 'tenant_invalid'],
    ['by an empty header', { 'x-tenant-id': '', ...acmeKey }, 'tenant_invalid'],
    ['in upper case', { 'x-tenant-id': 'Acme', ...acmeKey }, 'tenant_invalid'],
    ['by 64 letters', { 'x-tenant-id': 'a'.repeat(64), ...acmeKey }, 'tenant_invalid'],
    ['by a path', { 'x-tenant-id': '../acme', ...acmeKey }, 'tenant_invalid'],
    ['differently by header and key', { 'x-tenant-id': 'usco', ...acmeKey }, 'tenant_mismatch'],
    ['differently by two keys', { 'x-api-key': keyOf('usco'), ...acmeKey }, 'tenant_mismatch'],
    ['by neither', { authorization: 'Bearer sk-1' }, 'tenant_missing'],
    ['by a key whose secret is too short', { authorization: 'Bearer rgk_acme_short' }, 'tenant_missing'],
  ])('named %s', (_how, headers, outcome) => {
    expect(named(headers)).toBe(outcome);
  });

  it.each([{}, { authorization: '' }, { authorization: 'Bearer ' }, { 'x-api-key': ' ' }])(
    'is not served without a credential: %j',
    (credential) => {
      expect(named({ 'x-tenant-id': 'acme', ...credential })).toBe('key_missing');
    },
  );
});

const NAMES = ['x-jurisdiction', 'x-tenant-id', 'authorization', 'x-api-key'] as const;
const value = fc.oneof(
  fc.constantFrom(
    ...ZONES,
    ...ZONES.map((zone) => zone.toUpperCase()),
    'eu,us',
    'eu, eu',
    '',
    ',',
    'acme',
    'usco',
  ),
  fc.constantFrom(`Bearer ${keyOf('acme')}`, keyOf('usco'), 'Bearer sk-1'),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const anyHeaders = fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 4 });

describe('whatever the headers', () => {
  it('never throws, and never claims a zone that the header does not spell letter by letter', () => {
    fc.assert(
      fc.property(anyHeaders, (headers) => {
        const claim = inspectAll(headers);
        if (!claim.ok) return;
        const sent = (headers['x-jurisdiction'] ?? '')
          .split(',')
          .map((part) => part.replace(/^[ \t]+|[ \t]+$/g, ''));
        expect(ZONES).toContain(claim.value.jurisdiction);
        expect(new Set(sent)).toEqual(new Set([claim.value.jurisdiction]));
        expect(claim.value.tenant).toMatch(/^[a-z0-9][a-z0-9-]{0,62}$/);
      }),
      { numRuns: 2_000 },
    );
  });
});
