import { describe, expect, it } from 'vitest';
import { isPartOfSystem, mixesAlphabets, personKey } from '../../shared/person.ts';

describe('two names', () => {
  it.each([
    ['A. Person', 'a.  person'],
    ['A. Person', 'A.\u00a0Person'],
    ['a.person', 'ａ．ｐｅｒｓｏｎ'],
    ['a.person', 'a.\u200bper\u00adson\ufe0f'],
    ['Strauß', 'STRAUSS'],
    ['José', 'Jose\u0301'],
    ['coco', 'сосо'],
    ['TOM', 'ТОМ'],
    ['ako', 'ακο'],
  ])('are one person: %s, %s', (one, other) => {
    expect(personKey(one)).toBe(personKey(other));
  });

  it.each([
    ['a.person', 'b.person'],
    ['anna', 'hanna'],
    ['山田 花子', '山田 太郎'],
    ['Иван Петров', 'Иван Сидоров'],
  ])('are two people: %s, %s', (one, other) => {
    expect(personKey(one)).not.toBe(personKey(other));
  });
});

describe('a name', () => {
  it('that is written in one alphabet, or in a script that goes with others, mixes none', () => {
    for (const name of ['Ana María', 'Иван Петров', 'Νίκος', '山田 はなこ', 'ひろ Tanaka', 'ops-1 (night)']) {
      expect(mixesAlphabets(name), name).toBe(false);
    }
    for (const name of ['аnna', 'Iваn', 'Νikos']) expect(mixesAlphabets(name), name).toBe(true);
  });

  it('that records use for a part of the system is no person’s', () => {
    for (const name of ['gateway', 'Gateway', 'EDGE', ' client ', 'Ｅndpoint', 'gаteway', 'e\u200bdge']) {
      expect(isPartOfSystem(name), name).toBe(true);
    }
    for (const name of ['ana', 'gateway-team', 'client services']) expect(isPartOfSystem(name)).toBe(false);
  });
});
