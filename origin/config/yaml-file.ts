import { type Document, isAlias, isCollection, isNode, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { err, ok, type Result } from '../../shared/result.ts';
import { readBounded } from './bounded-file.ts';
import { type Fault, memberPath } from './fault.ts';
import { keyFaults } from './yaml-keys.ts';

/** A YAML file that was read, and where its members stand in it. */
export interface YamlFile {
  readonly file: string;
  readonly bytes: Buffer;
  readonly value: unknown;
  /** `file:line member.path` of a member, for a fault. */
  at(path: readonly PropertyKey[]): string;
}

/** Aliases that one document may resolve to in all, so that a few lines cannot grow into gigabytes. */
const ALIASES = 100;

/** Reads one YAML 1.2 document. Faults: unreadable, too large, not UTF-8, not YAML, a key twice. */
export function readYaml(file: string): Result<YamlFile, readonly Fault[]> {
  const bytes = readBounded(file);
  if (!bytes.ok) return err([{ path: file, message: bytes.error }]);
  try {
    return parse(file, bytes.value);
  } catch {
    // Not UTF-8, too deep for the parser's stack, or aliases beyond the bound.
    return err([{ path: file, message: 'is not a YAML document in UTF-8 of reasonable depth and aliases' }]);
  }
}

function parse(file: string, bytes: Buffer): Result<YamlFile, readonly Fault[]> {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  const lines = new LineCounter();
  // The pretty form of an error quotes the source, which may hold what should not be printed.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const line = (offset: number) => lines.linePos(offset).line;
  const faults = [
    ...[...document.errors, ...document.warnings].map(({ message, pos: [offset] }) => ({ offset, message })),
    ...keyFaults(document),
  ].map(({ offset, message }): Fault => ({ path: `${file}:${line(offset)}`, message }));
  if (faults.length > 0) return err(faults);
  const at = (path: readonly PropertyKey[]) =>
    `${file}:${line(offsetOf(document, path))} ${memberPath(path)}`.trimEnd();
  return ok({ file, bytes, value: document.toJS({ maxAliasCount: ALIASES }), at });
}

/** Offset of the deepest node on the path that stands in the file. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const step of [undefined, ...path]) {
    if (step !== undefined) node = isCollection(node) ? node.get(step, true) : undefined;
    if (isAlias(node)) node = node.resolve(document);
    if (!isNode(node)) break;
    offset = node.range?.[0] ?? offset;
  }
  return offset;
}

/** Faults of a value that does not have the form of a schema, each with its place in the file. */
export const schemaFaults = (yaml: YamlFile, { issues }: z.ZodError): readonly Fault[] =>
  issues.flatMap((issue) => {
    const path = yaml.at(issue.path);
    if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => ({ path, message }));
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
    return issue.keys.map((key) => ({
      path: yaml.at([...issue.path, key]),
      message: 'is not a member that is known here: check its spelling',
    }));
  });

/** A file's value in the form of a schema, or every fault. */
export function readYamlAs<S extends z.ZodType>(
  file: string,
  schema: S,
): Result<{ readonly yaml: YamlFile; readonly value: z.output<S> }, readonly Fault[]> {
  const yaml = readYaml(file);
  if (!yaml.ok) return yaml;
  const parsed = schema.safeParse(yaml.value.value);
  if (!parsed.success) return err(schemaFaults(yaml.value, parsed.error));
  return ok({ yaml: yaml.value, value: parsed.data });
}
