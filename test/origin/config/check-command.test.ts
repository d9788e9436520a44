import { execFile } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { ENVIRONMENT, ORIGIN, originFiles, POLICY, TENANTS } from './origin-files.ts';

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the real command in a process of its own. */
const check = (...args: readonly string[]): Promise<Run> => checkWith(ENVIRONMENT, ...args);

const checkWith = (environment: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Run> =>
  new Promise((resolve) => {
    const run = `import { command } from './origin/cli/check.ts';
      try { await command().parseAsync(process.argv.slice(1), { from: 'user' }); }
      catch (error) { process.exitCode = error.exitCode === 0 ? 0 : 2; }`;
    const env = { PATH: process.env.PATH, ...environment };
    const argv = ['--input-type=module', '--eval', run, '--', ...args];
    execFile(process.execPath, argv, { env, timeout: 30_000 }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
  });

describe('residency check', () => {
  it('prints who is served where, and exits 0 where there is nothing to mend', async () => {
    const { code, stdout } = await check('--config', originFiles());
    expect(stdout).toContain('1. fra-bedrock: eu-central-1, Frankfurt, DE');
    expect(stdout).toContain('tenant agency-de');
    expect(stdout).toContain('Nothing to mend.');
    expect(code).toBe(0);
  });

  it('gives the same to programs', async () => {
    const { code, stdout } = await check('--json', '--config', originFiles());
    const report: unknown = JSON.parse(stdout);
    expect(report).toMatchObject({ ok: true, faults: [], problems: [] });
    expect(report).toHaveProperty('matrix[1].allowed[0].endpoint', 'fra-bedrock');
    expect(code).toBe(0);
  });

  it('exits 1 where an endpoint stands in a graph that its policy keeps out, and says which and why', async () => {
    const policies = {
      'policies/eu-gdpr-strict.yaml': POLICY.replace('countries: [EEA]', 'countries: [DE, FR]'),
    };
    const { code, stdout, stderr } = await check('--config', originFiles(policies));
    expect(stderr).toMatch(
      /yaml:18 workloads\.contract-review\.failover\.secondary\[0\]: dub-bedrock never serves/,
    );
    expect(stdout).toContain('never dub-bedrock: region eu-west-1 is in IE');
    expect(code).toBe(1);
  });

  it('exits 1 where somebody is always refused', async () => {
    const policies = { 'policies/eu-gdpr-strict.yaml': POLICY.replace('countries: [DE]', 'countries: [NO]') };
    const { code, stderr } = await check('--config', originFiles(policies));
    expect(stderr).toContain('is always refused for tenant agency-de');
    expect(code).toBe(1);
  });

  it('exits 1 where an endpoint of another zone stands in a graph, and names its country', async () => {
    const london = ORIGIN.replaceAll('eu-west-1', 'eu-west-2');
    const { code, stdout, stderr } = await check('--config', originFiles({ 'eu.yaml': london }));
    expect(stderr).toContain('never serves contract-review: London (eu-west-2) is in GB, zone uk, not eu');
    expect(stdout).toContain('never dub-bedrock: London (eu-west-2) is in GB');
    expect(code).toBe(1);
  });

  it('exits 2 with every fault where it cannot be used', async () => {
    const broken = ORIGIN.replace('port: 8801', 'port: -1').replace(
      'deployment: regional',
      'deployment: anywhere',
    );
    const text = await check('--config', originFiles({ 'eu.yaml': broken }));
    expect(text.stderr).toContain('eu.yaml:2 listen.port: ');
    expect(text.stderr).toContain('deployment: ');
    expect(text.stderr).toContain('2 faults');
    expect(text.code).toBe(2);
    const json = await check('--json', '--config', originFiles({ 'eu.yaml': broken }));
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, faults: [{}, {}], matrix: [] });
    expect(json.code).toBe(2);
  });

  it('needs no key and no secret: what a start would need is listed apart', async () => {
    const files = {
      'keys/edge.jwks.json': undefined,
      'keys/eu.jwk.json': undefined,
      'tenants/eu.yaml': TENANTS.replace('a'.repeat(64), '0'.repeat(64)),
    };
    const text = await checkWith({}, '--config', originFiles(files));
    expect(text.stdout).toContain('1. fra-bedrock: eu-central-1, Frankfurt, DE');
    expect(text.stdout).toContain('Nothing to mend.');
    const [, missing = ''] = text.stderr.split('Needed to start');
    for (const one of [
      'BEDROCK_EU_KEY',
      'RESIDENCY_ADMIN_TOKEN',
      'edge.jwks.json',
      'eu.jwk.json',
      'placeholder',
    ])
      expect(missing).toContain(one);
    expect(text.code).toBe(0);
    const json = JSON.parse((await checkWith({}, '--json', '--config', originFiles(files))).stdout);
    expect(json).toMatchObject({ ok: true, faults: [] });
    expect(json.needed).toHaveLength(6);
    expect(json.matrix.length).toBeGreaterThan(0);
  });

  it.each(['production', 'ollama'])('gives the matrix of the example %s as it ships', async (example) => {
    const { code, stdout } = await checkWith({}, '--config', `docs/examples/${example}/origin.yaml`);
    expect(stdout).toMatch(/^Jurisdiction eu, policy .*\n {2}support-chat .* 1\. /);
    expect(code).toBe(0);
  });

  it('tells in one run every fault that can be told, and what the parts without a fault come to', async () => {
    const broken = ORIGIN.replace('port: 8801', 'port: -1').replace(
      'own-dc-1\n    country: DE',
      'own-dc-1\n    country: Germany',
    );
    const files = {
      'eu.yaml': broken.replace('policies: [', 'policies: [policies/second.yaml, '),
      'policies/eu-gdpr-strict.yaml': POLICY.replace('fail_closed', 'fail_open')
        .replace('par-azure]', 'par-azur, fra-bedrock]')
        .replace('b.person', 'a.person'),
      'policies/second.yaml': POLICY.replace('policy: eu-gdpr-strict', 'policy: second')
        .replace('[dub-bedrock, par-azure]', '[dub-bedrock]')
        .replace('countries: [EEA]', 'countries: [DE, FR]')
        .replace(/ +last_resort.*\n/, ''),
      'tenants/eu.yaml': TENANTS.replace('team: irish', 'team: dutch').replace('a'.repeat(64), 'xyz'),
    };
    const { code, stdout, stderr } = await check('--config', originFiles(files));
    for (const told of [
      'eu.yaml:2 listen.port: ',
      'endpoints[3].country: must be an ISO 3166 code',
      'on_exhausted: must be fail_closed',
      'reviewer: is the author',
      'secondary[1]: the graph names par-azur, which is not in the registry',
      'secondary[2]: the endpoint fra-bedrock stands in this graph twice',
      'keys[0].sha256: must be the SHA-256',
      'dub-bedrock never serves contract-review: region eu-west-1 is in IE',
    ])
      expect(stderr).toContain(told);
    expect(stderr).toContain('The configuration cannot be used: 7 faults.');
    expect(stdout).toContain('policy second@4.2.0');
    expect(stdout).not.toContain('policy eu-gdpr-strict@4.2.0');
    expect(stdout).not.toContain('Nothing to mend');
    expect(code).toBe(2);
  });

  it('says nothing of workloads that name an endpoint whose entry has a fault', async () => {
    const wrong = ORIGIN.replace('bedrock-runtime.eu-west-1', 'bedrock-runtime.us-east-1');
    const { stdout, stderr } = await check('--config', originFiles({ 'eu.yaml': wrong }));
    expect(stderr).toContain('endpoints[1].base_url: endpoint dub-bedrock: the host is in us-east-1');
    expect(stderr).toContain('1 fault.');
    expect(stdout).toBe('');
  });

  it('exits 2 where it is used wrongly, and 0 for its help', async () => {
    expect((await check()).code).toBe(2);
    expect((await check('--config')).code).toBe(2);
    expect((await check('--nonsense')).code).toBe(2);
    expect((await check('--help')).code).toBe(0);
  });
});
