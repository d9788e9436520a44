import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { describe, expect, it } from 'vitest';

/** What an auditor's program has no business with. Hashes and signatures are all that it takes of Node. */
const FORBIDDEN = {
  'speaks to a network':
    /["'`](?:node:)?(?:https?|http2|net|tls|dgram|dns|undici)["'`]|\bfetch\(|\bWebSocket\b/,
  'reads or writes files': /["'`](?:node:)?fs(?:\/promises)?["'`]/,
  'opens a store': /["'`](?:node:sqlite|pg)["'`]/,
  'starts programs or threads': /["'`](?:node:)?(?:child_process|worker_threads|cluster)["'`]/,
  'reads the environment': /\bprocess\.env\b/,
  'reads a clock': /\bDate\.now\(|\bnew Date\(\)/,
} as const;

const faultsOf = (script: string): readonly string[] =>
  Object.entries(FORBIDDEN).flatMap(([fault, pattern]) => (pattern.test(script) ? [fault] : []));

const NODE = /^(?:node:)/;

/** All that is loaded with a file of `shared/verify`, in one script, but for libraries from elsewhere. */
async function bundled(entry: string): Promise<string> {
  const file = fileURLToPath(new URL(`../../../shared/verify/${entry}.ts`, import.meta.url));
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: false,
      lib: { entry: file, formats: ['es'] },
      rollupOptions: { external: [NODE, 'zod', 'yaml', 'canonicalize'] },
    },
  });
  const [output] = Array.isArray(built) ? built : [built];
  if (output === undefined || !('output' in output)) throw new Error('nothing was built');
  return output.output.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')).join('\n');
}

describe('the verifier', () => {
  it.each(['verify', 'single'])(
    'needs no network, file, store, clock or environment (%s.ts)',
    async (entry) => {
      const script = await bundled(entry);
      expect(script).toContain('node:crypto');
      expect(faultsOf(script)).toEqual([]);
      expect(
        script
          .match(/from ["'][^"']+["']/g)
          ?.map((text) => text.slice(6, -1))
          .toSorted(),
      ).toEqual(
        [...new Set(script.match(/from ["'][^"']+["']/g)?.map((text) => text.slice(6, -1)))].toSorted(),
      );
    },
  );

  it.each([
    ['speaks to a network', "import { request } from 'node:http';"],
    ['speaks to a network', "await fetch('https://x.example');"],
    ['reads or writes files', 'import { writeFile } from "node:fs/promises";'],
    ['opens a store', "import { DatabaseSync } from 'node:sqlite';"],
    ['starts programs or threads', "import { execFile } from 'node:child_process';"],
    ['reads the environment', 'const token = process.env.TOKEN;'],
    ['reads a clock', 'const now = Date.now();'],
  ])('would be found out if it %s', (fault, canary) => {
    expect(faultsOf(canary)).toEqual([fault]);
  });
});
