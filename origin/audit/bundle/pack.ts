import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { createTarPacker, type TarPackController } from 'modern-tar';
import { BUNDLE_FILES, type Manifest } from '../../../shared/bundle.ts';
import type { Spool } from './spool.ts';

/** Packs a bundle: a gzip of one tar, the manifest first. Ends the destination; rejects as it does. */
export async function pack(
  manifest: Manifest,
  spools: readonly Spool[],
  destination: Writable,
): Promise<void> {
  const { readable, controller } = createTarPacker();
  const mtime = new Date(manifest.last.at);
  const filled = fill(controller, mtime, Buffer.from(`${JSON.stringify(manifest)}\n`), spools).then(
    () => controller.finalize(),
    (cause: unknown) => controller.error(cause),
  );
  // The spools are closed after this, so nothing may read them any more where the destination has gone.
  await pipeline(chunksOf(readable.getReader()), createGzip(), destination).finally(() => filled);
}

async function fill(
  controller: TarPackController,
  mtime: Date,
  manifest: Uint8Array,
  spools: readonly Spool[],
): Promise<void> {
  await add(controller, mtime, { name: BUNDLE_FILES.manifest, bytes: manifest.length }, [manifest]);
  for (const spool of spools) {
    for await (const [file, bytes] of spool.contents()) await add(controller, mtime, file, bytes);
  }
}

async function add(
  controller: TarPackController,
  mtime: Date,
  { name, bytes: size }: { readonly name: string; readonly bytes: number },
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const entry = controller.add({ name, size, mtime, mode: 0o644, uid: 0, gid: 0, type: 'file' });
  const writer = entry.getWriter();
  for await (const chunk of bytes) await writer.write(chunk);
  await writer.close();
}

async function* chunksOf(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}
