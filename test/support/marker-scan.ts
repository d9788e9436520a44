import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** In every text of a test that must not be kept anywhere. */
const MARK = 'LEAKMARK';

/** A text that stands for something confidential, and says where it was put. */
export const marked = (place: string): string => `${MARK}-${place}`;

/** The mark as it may turn up: in any letter case, in hex, or in base64 at each of its three alignments. */
const SHAPES: readonly string[] = [
  MARK.toLowerCase(),
  Buffer.from(MARK).toString('hex'),
  ...[0, 1, 2].map((shift) =>
    Buffer.from('x'.repeat(shift) + MARK)
      .toString('base64url')
      .slice(shift === 0 ? 0 : shift + 1, -2)
      .toLowerCase(),
  ),
];

/** Each place of a text where a mark stands, or one of the other secrets, with what is around it. */
export function findMarks(text: string, secrets: readonly string[] = []): string[] {
  const lower = text.toLowerCase();
  return [...SHAPES, ...secrets.map((secret) => secret.toLowerCase())].flatMap((shape) => {
    const at = lower.indexOf(shape);
    return at === -1 ? [] : [text.slice(Math.max(at - 60, 0), at + 60)];
  });
}

/** The bytes of every file of a database in a folder, by name: the database itself, its log, its shared memory. */
export async function databaseFiles(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(folder)).filter((name) => name.startsWith('log.db'));
  const contents = names.map(async (name) => [name, await readFile(join(folder, name), 'latin1')] as const);
  return new Map(await Promise.all(contents));
}
