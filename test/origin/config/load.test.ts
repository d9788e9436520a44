import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { loadConfig, type OriginConfig } from '../../../origin/config.ts';
import { teamOf } from '../../../origin/policy/tenants.ts';
import { EDGE_KEY, ENVIRONMENT, ORIGIN, ORIGIN_KEY, originFiles, POLICY } from './origin-files.ts';

function load(file: string, env: NodeJS.ProcessEnv = ENVIRONMENT): OriginConfig {
  const loaded = loadConfig(file, env);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  return loaded.value;
}

describe('the configuration of the contract', () => {
  it('loads, with its paths relative to its own file', () => {
    const file = originFiles();
    const config = load(file);
    expect(config.problems).toEqual([]);
    expect(config.jurisdiction).toBe('eu');
    expect(config.store).toEqual({ kind: 'sqlite', file: join(dirname(file), 'data/eu.db') });
    expect(config.edgeKeys.keys).toEqual([EDGE_KEY.public]);
    expect(config.signingKey.kid).toBe('eu-1');
    expect(config.signingKey.privateKey.export({ format: 'jwk' })).toMatchObject({ d: ORIGIN_KEY.private.d });
    expect(config.limits.body_bytes).toBe(33_554_432);
    expect([...config.registry.keys()]).toEqual(['fra-bedrock', 'dub-bedrock', 'par-azure', 'own-dc-vllm']);
  });

  it('knows each endpoint by the catalogue, and the operator’s own facility as declared', () => {
    const { registry } = load(originFiles());
    expect(registry.get('fra-bedrock')).toMatchObject({ region: 'eu-central-1', country: 'DE', zone: 'eu' });
    expect(registry.get('par-azure')).toMatchObject({ region: 'francecentral', country: 'FR', zone: 'eu' });
    expect(registry.get('own-dc-vllm')).toMatchObject({ region: 'own-dc-1', country: 'DE', zone: 'eu' });
  });

  it('holds the policy under its name with the hash of the file’s bytes', () => {
    const policy = load(originFiles()).policies.get('eu-gdpr-strict');
    expect(policy?.label).toBe('eu-gdpr-strict@4.2.0');
    expect(policy?.sha256).toMatch(/^[0-9a-f]{64}$/);
    const changed = load(originFiles({ 'policies/eu-gdpr-strict.yaml': `${POLICY}# a word\n` }));
    expect(changed.policies.get('eu-gdpr-strict')?.sha256).not.toBe(policy?.sha256);
  });

  it('takes credentials and the admin token from the environment, and prints neither', () => {
    const config = load(originFiles());
    expect(config.admin.token?.reveal()).toBe('admin-token-value');
    expect(config.registry.get('fra-bedrock')?.credential?.reveal()).toBe('bedrock-key-value');
    const printed = `${inspect(config, { depth: 12 })} ${JSON.stringify([...config.registry.values()])}`;
    expect(printed).not.toContain('admin-token-value');
    expect(printed).not.toContain('bedrock-key-value');
    expect(printed).not.toContain(ORIGIN_KEY.private.d);
  });

  it('keeps the password of a PostgreSQL store to itself', () => {
    const store = 'postgres://origin:hunter2@db.example/eu';
    const config = load(originFiles({ 'eu.yaml': ORIGIN.replace('sqlite:data/eu.db', store) }));
    expect(inspect(config.store)).not.toContain('hunter2');
    expect(config.store.kind === 'postgres' && config.store.url.reveal()).toBe(store);
  });

  it('does not mistake what every object has for a team, tenant, policy or endpoint', () => {
    const config = load(originFiles());
    const acme = config.tenants.get('acme');
    expect(acme && teamOf(acme, 'irish')?.allowed_regions).toEqual(['eu-west-1']);
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
      expect(acme && teamOf(acme, name)).toBeUndefined();
      expect(config.tenants.get(name)).toBeUndefined();
      expect(config.policies.get(name)).toBeUndefined();
      expect(config.registry.get(name)).toBeUndefined();
    }
  });

  it('lets a workload be called constructor, as any other word', () => {
    const rename = (text: string) => text.replaceAll('contract-review', 'constructor');
    const tenants = 'tenants: {}\n';
    const files = { 'eu.yaml': rename(ORIGIN), 'policies/eu-gdpr-strict.yaml': rename(POLICY) };
    const config = load(originFiles({ ...files, 'tenants/eu.yaml': tenants }));
    expect(config.problems).toEqual([]);
    expect(Object.keys(config.policies.get('eu-gdpr-strict')?.document.workloads ?? {})).toEqual([
      'constructor',
    ]);
  });

  it('changes a limit that the file names and leaves the others', () => {
    const { limits } = load(originFiles({ 'eu.yaml': `${ORIGIN}limits: { body_bytes: 1024 }\n` }));
    expect(limits).toMatchObject({ body_bytes: 1024, header_bytes: 16_384, ledger_ms: 3_000 });
  });

  it('can be read without declared tenants', () => {
    const config = load(originFiles({ 'eu.yaml': ORIGIN.replace(/^tenants:.*\n/m, '') }));
    expect(config.tenants.size).toBe(0);
  });
});
