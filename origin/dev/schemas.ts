import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { JSON_SCHEMAS } from '../config/json-schemas.ts';

/** Writes `docs/schemas` anew, in the form that the linter wants. Run it after a schema has changed. */
const root = fileURLToPath(new URL('../..', import.meta.url));
mkdirSync(`${root}docs/schemas`, { recursive: true });
for (const [name, schema] of Object.entries(JSON_SCHEMAS)) {
  writeFileSync(`${root}docs/schemas/${name}.json`, JSON.stringify(schema));
}
const formatted = spawnSync('node_modules/.bin/biome', ['check', '--write', 'docs/schemas'], {
  cwd: root,
  stdio: 'inherit',
});
process.exitCode = formatted.status ?? 1;
