import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { stringify } from 'yaml';
import { loadConfig, type OriginConfig } from '../../origin/config.ts';
import { writeLocalConfig } from '../../origin/dev/local-config.ts';
import { makeMissingKeys } from '../../origin/dev/local-keys.ts';
import { LOCAL_ZONES } from '../../origin/dev/local-zones.ts';
import { newSigningKey } from '../../origin/keys/signing-key.ts';
import { PACK_NAMES, type PackName } from '../../shared/policy.ts';
import { packOrigin } from './pack-origin.ts';

/** A configuration of the project, loaded as an origin loads it. */
export interface Configuration {
  readonly name: string;
  readonly config: OriginConfig;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'residency-matrix-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const edgeKey = (await newSigningKey()).private;

const ENVIRONMENT = { RESIDENCY_ADMIN_TOKEN: 'token', BEDROCK_FRANKFURT_KEY: 'x', BEDROCK_DUBLIN_KEY: 'x' };

async function load(name: string, file: string): Promise<Configuration> {
  await makeMissingKeys(file, edgeKey);
  const loaded = loadConfig(file, ENVIRONMENT);
  if (!loaded.ok) throw new Error(`${name}: ${JSON.stringify(loaded.error)}`);
  return { name, config: loaded.value };
}

/** The examples of the documentation, where they lie. */
const examples = async (): Promise<Configuration[]> => {
  cpSync(join(root, 'docs/examples'), join(folder, 'docs/examples'), { recursive: true });
  const names = readdirSync(join(folder, 'docs/examples'));
  for (const name of names) putHash(join(folder, 'docs/examples', name, 'tenants.yaml'));
  return await Promise.all(
    names.map((name) => load(`the example ${name}`, join(folder, 'docs/examples', name, 'origin.yaml'))),
  );
};

/** As a reader of an example does with the hash of a key of theirs. */
function putHash(file: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('0'.repeat(64), 'a'.repeat(64)));
}

/** The stack that `npm start` runs. */
const builtIn = async (): Promise<Configuration[]> =>
  await Promise.all(
    LOCAL_ZONES.map(async (zone) => {
      const providers = new Map(zone.endpoints.map(({ id }) => [id, 'http://127.0.0.1:9']));
      const keys = new Map(zone.tenants.map((tenant) => [tenant, `rgk_${tenant}_x`]));
      const file = await writeLocalConfig(join(folder, 'local'), { zone, ports: [1, 2], providers, keys });
      return await load(`the built-in zone ${zone.zone}`, file);
    }),
  );

/** Each pack alone, and those that are meant to be combined. */
const COMBINATIONS: readonly (readonly PackName[])[] = [
  ...PACK_NAMES.map((name) => [name]),
  ['eu-gdpr-strict', 'eu-ai-act-high-risk'],
  ['eu-ai-act-high-risk', 'de-only'],
  ['eu-gdpr-strict', 'eu-ai-act-high-risk', 'de-only'],
];

const packs = async (): Promise<Configuration[]> =>
  await Promise.all(
    COMBINATIONS.map(async (names) => {
      const at = join(folder, 'packs', names.join('+'));
      for (const [name, document] of Object.entries(packOrigin(names))) {
        mkdirSync(dirname(join(at, name)), { recursive: true });
        writeFileSync(join(at, name), stringify(document));
      }
      return await load(`packs ${names.join(' + ')}`, join(at, 'origin.yaml'));
    }),
  );

/** Every policy document and pack of the project, each in a configuration that loads. */
export const CONFIGURATIONS: readonly Configuration[] = [
  ...(await examples()),
  ...(await builtIn()),
  ...(await packs()),
];
