import { fileURLToPath } from 'node:url';
import { packSchema } from '../../shared/pack.ts';
import type { PackName } from '../../shared/policy.ts';
import { err, ok, type Result } from '../../shared/result.ts';
import type { LoadedPack } from '../policy/document.ts';
import type { Fault } from './fault.ts';
import { readYamlAs } from './yaml-file.ts';

/** The file of a pack that ships with the product. */
export const packFile = (name: PackName): string =>
  fileURLToPath(new URL(`../policy/packs/${name}.yaml`, import.meta.url));

/** The pack of that name, or everything wrong with its file: an installation may have been changed. */
export function readPack(name: PackName): Result<LoadedPack, readonly Fault[]> {
  const file = packFile(name);
  const parsed = readYamlAs(file, packSchema);
  if (!parsed.ok) return parsed;
  const { yaml, value: pack } = parsed.value;
  if (pack.pack !== name) {
    return err([{ path: yaml.at(['pack']), message: `is ${pack.pack}, the file is called ${name}` }]);
  }
  return ok({ pack, bytes: yaml.bytes });
}

/** The packs of those names in that order; what is wrong with their files goes to `faults`. */
export function readPacks(names: readonly PackName[], faults: Fault[]): readonly LoadedPack[] | undefined {
  const read = names.map(readPack);
  for (const pack of read) if (!pack.ok) faults.push(...pack.error);
  const packs = read.flatMap((pack) => (pack.ok ? [pack.value] : []));
  return packs.length === names.length ? packs : undefined;
}
