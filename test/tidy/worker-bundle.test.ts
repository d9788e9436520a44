import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildWorker } from '../../origin/dev/edge-bundle.ts';

/** Bytes of the built Worker after gzip, as it is sent to Cloudflare. */
const SIZE_LIMIT = 30 * 1024;

/** What `hono/tiny` stands for. */
const ROUTER = fileURLToPath(new URL('../../node_modules/hono/dist/preset/tiny.js', import.meta.url));

const FORBIDDEN = {
  'reads a body': /\.(?:json|text|arrayBuffer|formData|blob|bytes|getReader|tee|pipeThrough)(?:\?\.)?\(/g,
  'takes a body apart': /\bfor await\b|\bTransformStream\b|\.bodyUsed\b/g,
  'contains full zod, where zod/mini does': /["'`]ZodType["'`]/g,
  'needs Node': /["'`]node:/g,
  'evaluates text': /\beval\(|\bnew Function\(/g,
} as const;

const matches = (script: string, pattern: RegExp): readonly string[] => script.match(pattern) ?? [];

/** What a built script does that the Worker must not, beyond what the router brings along and nobody calls. */
const faultsOf = (script: string, router: string): readonly string[] =>
  Object.entries(FORBIDDEN).flatMap(([fault, pattern]) =>
    matches(script, pattern).length > matches(router, pattern).length ? [fault] : [],
  );

let folder: string;
let worker: string;
let router: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'worker-bundle-'));
  const routerAlone = join(folder, 'router.ts');
  await writeFile(routerAlone, `import { Hono } from '${ROUTER}';\nexport default new Hono();\n`);
  [worker, router] = await Promise.all(
    ['edge/worker.ts', routerAlone].map(async (entry) => (await buildWorker(entry)).script),
  ).then(([first = '', second = '']) => [first, second]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the built Worker', () => {
  it(`is no larger than ${SIZE_LIMIT} bytes after gzip`, () => {
    expect(worker.length).toBeGreaterThan(router.length);
    expect(gzipSync(worker).length).toBeLessThanOrEqual(SIZE_LIMIT);
  });

  it('reads no body, needs no Node, and has no full zod in it', () => {
    expect(faultsOf(worker, router)).toEqual([]);
  });

  it.each([
    ['reads a body', 'async(r)=>await r.text()'],
    ['reads a body', 'c.req.json()'],
    ['reads a body', 'r.body.getReader()'],
    ['takes a body apart', 'for await(const c of r.body);'],
    ['contains full zod, where zod/mini does', '$constructor("ZodType",i)'],
    ['needs Node', 'import"node:crypto"'],
    ['evaluates text', 'new Function("return 1")'],
  ])('would be found out if it %s', (fault, canary) => {
    expect(faultsOf(`${worker};${canary}`, router)).toContain(fault);
  });
});
