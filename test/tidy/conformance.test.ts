import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const tests = new URL('../', import.meta.url);
const table = readFileSync(new URL('CONFORMANCE.md', tests), 'utf8');

interface Row {
  readonly file: string;
  readonly name: string;
}

const rowsOf = (text: string): Row[] =>
  [...text.matchAll(/^\|[^|]*\| `([\w/.-]+)` \| (.*) \|$/gm)].map(([, file = '', name = '']) => ({
    file,
    name,
  }));

/** Whether the file holds every part of the test's name; `…` stands for what a table of the test fills in. */
function isThere({ file, name }: Row): boolean {
  const path = new URL(file, tests);
  if (!existsSync(path)) return false;
  const text = readFileSync(path, 'utf8').replaceAll("\\'", "'");
  return name.split('…').every((part) => text.includes(part.trim()));
}

const stale = (text: string): Row[] => rowsOf(text).filter((row) => !isThere(row));

describe('the table of contract lines and tests', () => {
  it('names only tests that are there', () => {
    expect(rowsOf(table).length).toBeGreaterThan(100);
    expect(stale(table)).toEqual([]);
  });

  it('has nothing else in its rows', () => {
    const rows = table.split('\n').filter((line) => line.startsWith('|') && line.includes('.test.ts'));
    expect(rows).toHaveLength(rowsOf(table).length);
  });

  it('would be found out with a test or file that is not there', () => {
    expect(stale('| x | `shared/zones.test.ts` | are no such … test |')).toHaveLength(1);
    expect(stale('| x | `shared/none.test.ts` | x |')).toHaveLength(1);
  });
});
