import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

const CACHE = join(REPOSITORY, 'node_modules', '.cache', 'residency-edge');

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

/** The production edge, built from the sources as they are: once for each state of them. */
export function edgeBundle(): Promise<EdgeBundle> {
  built ??= keptBundle();
  return built;
}

const bundleSchema = z.object({
  script: z.string(),
  compatibilityDate: z.string(),
  compatibilityFlags: z.array(z.string()),
});

/** Kept under a hash of everything that it is made of, so that what is found is never stale. */
async function keptBundle(): Promise<EdgeBundle> {
  const file = join(CACHE, `${await hashOfSources()}.json`);
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  if (kept !== undefined) return bundleSchema.parse(JSON.parse(kept));
  const bundle = await buildWorker('edge/worker.ts');
  await mkdir(CACHE, { recursive: true });
  await writeFile(`${file}.${process.pid}`, JSON.stringify(bundle));
  await rename(`${file}.${process.pid}`, file);
  return bundle;
}

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256');
  const folders = await Promise.all(
    ['edge', 'shared'].map((name) => readdir(join(REPOSITORY, name), { recursive: true })),
  );
  const sources = folders.flatMap((names, index) =>
    names.map((name) => join(index === 0 ? 'edge' : 'shared', name)),
  );
  for (const path of [
    ...sources.filter((name) => /\.(ts|json)$/.test(name)).sort(),
    'wrangler.toml',
    'package-lock.json',
  ]) {
    hash
      .update(path)
      .update('\0')
      .update(await readFile(join(REPOSITORY, path)));
  }
  return hash.digest('hex');
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
