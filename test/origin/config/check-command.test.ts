import { execFile } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { ENVIRONMENT, ORIGIN, originFiles, POLICY } from './origin-files.ts';

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the real command in a process of its own. */
const check = (...args: readonly string[]): Promise<Run> =>
  new Promise((resolve) => {
    const run = `import { command } from './origin/cli/check.ts';
      try { await command().parseAsync(process.argv.slice(1), { from: 'user' }); }
      catch (error) { process.exitCode = error.exitCode === 0 ? 0 : 2; }`;
    const env = { PATH: process.env.PATH, ...ENVIRONMENT };
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

  it('exits 2 where it is used wrongly, and 0 for its help', async () => {
    expect((await check()).code).toBe(2);
    expect((await check('--config')).code).toBe(2);
    expect((await check('--nonsense')).code).toBe(2);
    expect((await check('--help')).code).toBe(0);
  });
});
