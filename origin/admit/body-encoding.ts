import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Refusal } from '../../shared/errors.ts';
import { err, ok, type Result } from '../../shared/result.ts';

const DECODERS = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

export type Encoding = keyof typeof DECODERS;

const isEncoding = (name: string): name is Encoding => Object.hasOwn(DECODERS, name);

/** The `content-encoding` of a request body, undefined where there is none. */
export function encodingOf(header: string | undefined): Result<Encoding | undefined, Refusal> {
  const name = (header ?? 'identity').trim().toLowerCase();
  if (name === 'identity' || name === '') return ok(undefined);
  if (isEncoding(name)) return ok(name);
  const why = 'its content-encoding is not identity, gzip, deflate or br';
  return err({ code: 'body_invalid', why, param: 'content-encoding' });
}

/** Undoes an encoding, since the model's name cannot be replaced in it. Gives up beyond `limit` bytes. */
export async function decodeBody(
  bytes: Buffer,
  encoding: Encoding,
  limit: number,
): Promise<Result<Buffer, 'too_large' | 'broken'>> {
  try {
    return ok(await DECODERS[encoding](bytes, { maxOutputLength: limit }));
  } catch (cause) {
    const over = cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE';
    return err(over ? 'too_large' : 'broken');
  }
}
