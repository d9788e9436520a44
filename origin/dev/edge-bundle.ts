import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

/** Milliseconds that one build may take. It takes about two seconds. */
const BUILD_LIMIT_MS = 60_000;

const metadataSchema = z.object({
  main_module: z.string(),
  compatibility_date: z.string(),
  compatibility_flags: z.array(z.string()),
});

/** What `wrangler deploy` would send to Cloudflare for one environment. */
export interface EdgeBundle {
  readonly script: string;
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
}

/** Builds an entry point with the settings of `wrangler.toml` for production; nothing is sent or kept. */
export async function buildWorker(entry: string): Promise<EdgeBundle> {
  const folder = await mkdtemp(join(tmpdir(), 'edge-bundle-'));
  try {
    const upload = join(folder, 'upload');
    await promisify(execFile)(
      process.execPath,
      [
        ...[wranglerProgram(), 'deploy', entry, '--config', 'wrangler.toml'],
        ...['--dry-run', '--env', 'production'],
        ...['--outdir', folder, '--outfile', upload],
      ],
      {
        cwd: REPOSITORY,
        timeout: BUILD_LIMIT_MS,
        env: { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_LOG_PATH: folder, CI: 'true' },
      },
    );
    return await readUpload(await readFile(upload));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

let built: Promise<EdgeBundle> | undefined;

/** The production edge, built from the sources as they are: once in each process. */
export function edgeBundle(): Promise<EdgeBundle> {
  built ??= buildWorker('edge/worker.ts');
  return built;
}

function wranglerProgram(): string {
  const manifest = createRequire(import.meta.url).resolve('wrangler/package.json');
  return join(dirname(manifest), 'bin', 'wrangler.js');
}

/** The upload is a form (RFC 7578) whose boundary is its first line without the two hyphens before it. */
async function readUpload(bytes: Buffer<ArrayBuffer>): Promise<EdgeBundle> {
  const boundary = bytes.subarray(2, bytes.indexOf('\r\n')).toString('latin1');
  const form = await new Response(bytes, {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  }).formData();
  const metadata = metadataSchema.parse(JSON.parse(await textOf(form, 'metadata')));
  return {
    script: await textOf(form, metadata.main_module),
    compatibilityDate: metadata.compatibility_date,
    compatibilityFlags: metadata.compatibility_flags,
  };
}

async function textOf(form: FormData, part: string): Promise<string> {
  const value = form.get(part);
  if (value === null) throw new Error(`the built Worker has no part ${part}`);
  return typeof value === 'string' ? value : await value.text();
}
