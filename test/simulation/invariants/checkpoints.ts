import { parseCheckpoint } from '../../../shared/checkpoint.ts';
import { Frontier } from '../../../shared/merkle/frontier.ts';
import { sameBytes } from '../../../shared/merkle/hash.ts';
import { parseNote } from '../../../shared/note.ts';
import type { Disk } from '../disk.ts';

/** Each checkpoint that was ever signed, kept or not, that is not over the beginning of the log. */
export function forkedCheckpoints({ rows, signed }: Disk): string[] {
  const edge = Frontier.empty();
  const roots = [edge.root()];
  for (const { leaf } of rows) {
    edge.append(leaf);
    roots.push(edge.root());
  }
  return signed.filter((note) => {
    const parsed = parseNote(note);
    const checkpoint = parsed.ok ? parseCheckpoint(parsed.value.text) : parsed;
    if (!checkpoint.ok) return true;
    const root = roots[checkpoint.value.size];
    return root === undefined || !sameBytes(root, checkpoint.value.root);
  });
}

/** Each checkpoint of the table that is smaller than one before it. */
export const shrunkCheckpoints = ({ tables: { checkpoints } }: Disk): number[] =>
  checkpoints.flatMap(({ number, size }, index) =>
    size < (checkpoints[index - 1]?.size ?? 0) ? [number] : [],
  );
