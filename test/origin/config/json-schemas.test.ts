import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { JSON_SCHEMAS } from '../../../origin/config/json-schemas.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const schemas = join(root, 'docs/schemas');

interface Node {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly additionalProperties?: Node | boolean;
}

/** The members of a schema without a description, as paths. */
function undescribed(node: Node, path: string): string[] {
  const inner = [node.items, node.additionalProperties].filter((one) => typeof one === 'object');
  return [
    ...Object.entries(node.properties ?? {}).flatMap(([name, member]) => [
      ...(member.description === undefined ? [`${path}.${name}`] : []),
      ...undescribed(member, `${path}.${name}`),
    ]),
    ...inner.flatMap((one) => undescribed(one, `${path}[]`)),
  ];
}

describe('the JSON Schemas in docs/schemas', () => {
  it('are those of the program (else run: node origin/dev/schemas.ts)', () => {
    const written = readdirSync(schemas).map((file) => [
      file.replace(/\.json$/, ''),
      JSON.parse(readFileSync(join(schemas, file), 'utf8')),
    ]);
    expect(Object.fromEntries(written)).toEqual(JSON.parse(JSON.stringify(JSON_SCHEMAS)));
  });

  it('let a reader leave out what has a default, and nothing be misspelt', () => {
    expect(JSON_SCHEMAS.policy.required).not.toContain('tenants');
    for (const schema of Object.values(JSON_SCHEMAS)) {
      expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
    }
  });

  it.each(['policy', 'origin', 'tenants'] as const)('say in words what each member of %s is', (name) => {
    // Limits are explained where they are listed; hosts and ports say what they are.
    const silent = undescribed(JSON.parse(JSON.stringify(JSON_SCHEMAS[name])), '').filter(
      (path) => !/^\.(limits\.|(listen|admin)\.(host|port)$)/.test(path),
    );
    expect(silent).toEqual([]);
  });

  it.each([
    ...readdirSync(join(root, 'origin/policy/packs')).map((file) => join('origin/policy/packs', file)),
    ...readdirSync(join(root, 'docs/examples'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => join('docs/examples', file)),
  ])('are named for editors by %s', (file) => {
    const [first = ''] = readFileSync(join(root, file), 'utf8').split('\n');
    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)$/.exec(first) ?? [];
    expect(readdirSync(schemas)).toContain(resolve(root, file, '..', schema).slice(schemas.length + 1));
  });
});
