import { type Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar';
import { BUNDLE_LIMITS } from '../../shared/bundle.ts';
import { err, ok, type Result } from '../../shared/result.ts';
import { printable } from '../../shared/verify/files.ts';

/** Why an archive cannot be unpacked, in words. */
class Unusable extends Error {}

/**
 * The files of a `.tar.gz`, all in memory: nothing is written, whatever their names. The error says why there are
 * none: what may be a bomb, holds anything but files, or one twice, is not unpacked.
 */
export async function unpack(archive: Readable): Promise<Result<ReadonlyMap<string, Uint8Array>, string>> {
  const files = new Map<string, Uint8Array>();
  const entries = new WritableStream<ParsedTarEntry>({ write: (entry) => keep(entry, files) });
  const decoder = createTarDecoder({ strict: true });
  const ends = await Promise.allSettled([
    pipeline(archive, createGunzip(), bounded(), Writable.fromWeb(decoder.writable)),
    decoder.readable.pipeTo(entries),
  ]);
  const failed = ends.flatMap((end): unknown[] => (end.status === 'rejected' ? [end.reason] : []));
  if (failed.length === 0) return ok(files);
  const known = failed.find((reason) => reason instanceof Unusable);
  return err(known instanceof Unusable ? known.message : 'is not a whole .tar.gz archive');
}

async function keep({ header, body }: ParsedTarEntry, files: Map<string, Uint8Array>): Promise<void> {
  // People who unpacked a bundle pack it again with folders, and `./` before each name.
  const name = header.name.replace(/^\.\//, '');
  if (header.type !== 'directory' && header.type !== 'file') {
    throw new Unusable(`holds ${printable(name)}, which is no ordinary file`);
  }
  if (files.has(name)) throw new Unusable(`holds two files called ${printable(name)}`);
  if (files.size === BUNDLE_LIMITS.files) throw new Unusable(`holds more than ${BUNDLE_LIMITS.files} files`);
  const bytes = await new Response(body).bytes();
  if (header.type === 'file') files.set(name, bytes);
}

/** Breaks off where more comes out than a bundle may hold: a few kilobytes can unpack to gigabytes. */
function bounded(): Transform {
  let total = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      total += chunk.length;
      if (total <= BUNDLE_LIMITS.bytes) done(null, chunk);
      else done(new Unusable(`unpacks to more than ${BUNDLE_LIMITS.bytes} bytes`));
    },
  });
}
