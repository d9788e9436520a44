import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { err, ok, type Result } from '../../shared/result.ts';

/** Largest file that a configuration may name, in bytes: room for some 20,000 tenants. */
export const FILE_BYTES = 16 * 1024 * 1024;

/** The bytes of a regular file, or in words why they cannot be had. */
export function readBounded(file: string): Result<Buffer, string> {
  let handle: number;
  try {
    // Without O_NONBLOCK a named pipe would hold up the start for ever.
    handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return err(`cannot be opened (${codeOf(error)}): check the path and its permissions`);
  }
  try {
    const { size, isFile } = sizeOf(handle);
    if (!isFile) return err('is not a regular file');
    if (size > FILE_BYTES) return err(`is larger than ${FILE_BYTES} bytes`);
    return ok(readAll(handle, size));
  } catch (error) {
    return err(`cannot be read (${codeOf(error)})`);
  } finally {
    closeSync(handle);
  }
}

function sizeOf(handle: number): { readonly size: number; readonly isFile: boolean } {
  const stat = fstatSync(handle);
  return { size: stat.size, isFile: stat.isFile() };
}

function readAll(handle: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let filled = 0;
  while (filled < size) {
    const read = readSync(handle, bytes, filled, size - filled, null);
    if (read === 0) break;
    filled += read;
  }
  return bytes.subarray(0, filled);
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown reason';
