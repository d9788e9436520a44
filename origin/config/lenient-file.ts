import type { z } from 'zod';
import type { Fault } from './fault.ts';
import { readYaml, schemaFaults, type YamlFile } from './yaml-file.ts';

type Path = readonly PropertyKey[];

export interface LenientFile<T> {
  readonly yaml: YamlFile;
  /** Undefined where its form leaves nothing to go on with. */
  readonly value: T | undefined;
  /** Whether members of it were left out: then it is good for finding faults, and for nothing else. */
  readonly partial: boolean;
}

/**
 * A file's value in the form of a schema. Members that have not theirs are told to `faults` and left out, so
 * that one of them does not hide what is wrong with the others. Undefined where the file cannot be read.
 *
 * @param leftOut what is left out for a member at a path; the member alone by default
 */
export function readLeniently<S extends z.ZodType>(
  file: string,
  schema: S,
  faults: Fault[],
  leftOut: (path: Path) => Path = (path) => path,
): LenientFile<z.output<S>> | undefined {
  const read = readYaml(file);
  if (!read.ok) {
    faults.push(...read.error);
    return undefined;
  }
  const yaml = read.value;
  const whole = schema.safeParse(yaml.value);
  if (whole.success) return { yaml, value: whole.data, partial: false };
  faults.push(...schemaFaults(yaml, whole.error));
  const paths = whole.error.issues.flatMap(membersOf).map(leftOut);
  return { yaml, value: schema.safeParse(without(yaml.value, paths)).data, partial: true };
}

const membersOf = (issue: z.core.$ZodIssue): Path[] =>
  issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];

function without(value: unknown, paths: readonly Path[]): unknown {
  const copy: unknown = structuredClone(value);
  for (const path of paths) {
    const parent = path.slice(0, -1).reduce(memberOf, copy);
    const member = path.at(-1);
    // An element of a list stays: without it the places of those behind it would not be true any more.
    if (member !== undefined && isObject(parent) && !Array.isArray(parent)) {
      Reflect.deleteProperty(parent, member);
    }
  }
  return copy;
}

const memberOf = (node: unknown, step: PropertyKey): unknown =>
  isObject(node) ? Reflect.get(node, step) : undefined;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
