import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { badNames, bannedCalls, brokenArrows, deadFiles, overgrown, type Sources } from './tidy/rules.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Long on purpose: tables, lists, and the spine. Each may shrink and none may grow. */
const LONG_FILES: Readonly<Record<string, number>> = {
  'origin/admit/json-grammar.ts': 185,
  'origin/dev/launch.ts': 167,
};

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], {
  cwd: root,
  encoding: 'utf8',
});
const sources: Sources = new Map(
  tracked
    .split('\n')
    .filter((path) => path !== '' && !path.startsWith('test/tidy/canary/') && existsSync(join(root, path)))
    .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
);

const canary = (path: string, text: string): Sources => new Map([[path, text]]);

describe('the order of the house', () => {
  it('has imports that run down only', () => {
    expect(brokenArrows(sources)).toEqual([]);
  });

  it('makes no call that is banned', () => {
    expect(bannedCalls(sources)).toEqual([]);
  });

  it('has no file that nothing uses', () => {
    expect(deadFiles(sources)).toEqual([]);
  });

  it('has no file that has grown too long, and no stale exception', () => {
    expect(overgrown(sources, LONG_FILES)).toEqual([]);
    expect(Object.keys(LONG_FILES).filter((path) => !sources.has(path))).toEqual([]);
  });

  it('names files by what they are', () => {
    expect(badNames(sources)).toEqual([]);
  });
});

describe('each guard catches its canary', () => {
  it.each([
    ['shared/zones.ts', "import { x } from '../origin/main.ts';"],
    ['edge/pin.ts', "import { x } from '../origin/clock.ts';"],
    ['origin/clock.ts', "import { x } from '../edge/pin.ts';"],
    ['origin/policy/resolve.ts', "import { x } from '../admit/key.ts';"],
    ['origin/admit/key.ts', "import { x } from '../forward/attempt.ts';"],
    ['origin/forward/attempt.ts', "import { x } from '../exchange.ts';"],
    ['origin/main.ts', "const x = await import('./cli/start.ts');"],
    ['origin/server.ts', "import { x } from '../test/support/zone.ts';"],
  ])('an import that %s must not have', (path, text) => {
    expect(brokenArrows(canary(path, text))).toHaveLength(1);
  });

  it.each([
    ['origin/exchange.ts', 'const now = Date.now();'],
    ['origin/exchange.ts', 'setTimeout(() => undefined, 1);'],
    ['origin/exchange.ts', "console.log('x');"],
    ['origin/forward/attempt.ts', "await fetch('http://127.0.0.1');"],
    ['origin/admit/key.ts', 'const secret = Math.random();'],
    ['origin/main.ts', 'const token = process.env.TOKEN;'],
    ['shared/result.ts', 'const x = y as any;'],
    ['test/edge/x.test.ts', "it.skip('x', () => undefined);"],
    ['edge/pin.ts', '// @ts-ignore'.replace('// ', 'x; @ts-ignore')],
  ])('a call that %s must not make', (path, text) => {
    expect(bannedCalls(canary(path, text))).toHaveLength(1);
  });

  it('a file that nothing uses, one that is too long, one that is badly named', () => {
    expect(deadFiles(canary('origin/audit/forgotten.ts', ''))).toHaveLength(1);
    expect(overgrown(canary('origin/audit/long.ts', '\n'.repeat(151)), {})).toHaveLength(1);
    expect(badNames(canary('origin/audit/utils.ts', ''))).toHaveLength(1);
  });

  it('a lost promise, and one where none is expected', () => {
    const folder = mkdtempSync(join(tmpdir(), 'residency-lint-'));
    const { files: _, vcs: __, ...rules } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'));
    writeFileSync(join(folder, 'biome.json'), JSON.stringify(rules));
    cpSync(join(root, 'test/tidy/canary'), folder, { recursive: true });
    const biome = spawnSync(join(root, 'node_modules/.bin/biome'), ['lint', '.'], {
      cwd: folder,
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    expect(biome.status).toBe(1);
    expect(biome.stderr).toContain('noFloatingPromises');
    expect(biome.stderr).toContain('noMisusedPromises');
  });
});
