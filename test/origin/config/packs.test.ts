import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { packFile } from '../../../origin/config/pack-files.ts';
import { loadConfig, type OriginConfig } from '../../../origin/config.ts';
import { ENVIRONMENT, ORIGIN, originFiles, POLICY } from './origin-files.ts';

const MODEL = 'vendor.example-20260101';
/** The contract's origin, in which all endpoints serve one dated model. */
const ONE_MODEL = ORIGIN.replaceAll(/contract-review: [^ }]+/g, `contract-review: ${MODEL}`);

const files = (change: (policy: string) => string, origin = ORIGIN) =>
  originFiles({ 'eu.yaml': origin, 'policies/eu-gdpr-strict.yaml': change(POLICY) });
const naming = (packs: string) => (policy: string) => policy.replace('author:', `packs: [${packs}]\nauthor:`);
const approving = (models: string) => (policy: string) => policy.replace('models: []', `models: [${models}]`);
const open = (policy: string) =>
  policy.replace('class: large', 'class: large\n    pinned: false\n    reason: public texts only');

function load(file: string): OriginConfig {
  const loaded = loadConfig(file, ENVIRONMENT);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  return loaded.value;
}

function faults(file: string): string {
  const loaded = loadConfig(file, ENVIRONMENT);
  return loaded.ok ? '' : loaded.error.map(({ path, message }) => `${path}: ${message}`).join('\n');
}

const check = (...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    const run = `import { command } from './origin/cli/check.ts';
      await command().parseAsync(process.argv.slice(1), { from: 'user' });`;
    const env = { PATH: process.env.PATH, ...ENVIRONMENT };
    const argv = ['--input-type=module', '--eval', run, '--', ...args];
    execFile(process.execPath, argv, { env, timeout: 30_000 }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
  });

describe('the hash of a policy in force', () => {
  const inForce = (file: string) => load(file).policies.get('eu-gdpr-strict');
  const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

  it('is that of the file where it names no pack', () => {
    const file = files((policy) => policy);
    const bytes = readFileSync(join(file, '../policies/eu-gdpr-strict.yaml'));
    expect(inForce(file)?.sha256).toBe(sha256(bytes));
  });

  it('is of no policy that is too long for the verifier of an auditor to read', () => {
    const long = (policy: string) => `${policy}${'# a remark\n'.repeat(50_000)}`;
    expect(faults(files(long))).toContain('with its packs it is larger than 524288 bytes');
  });

  it('covers the packs too: it is that of one YAML stream of document and packs, which reads back', () => {
    const policy = inForce(files(naming('eu-gdpr-strict, de-only')));
    expect(policy?.sha256).toBe(sha256(policy?.stream ?? Buffer.from('')));
    const documents = parseAllDocuments(Buffer.from(policy?.stream ?? '').toString('utf8'));
    const [own, ...packs] = Array.isArray(documents) ? documents.map((one) => one.toJS()) : [];
    expect(own).toMatchObject({ policy: 'eu-gdpr-strict', packs: ['eu-gdpr-strict', 'de-only'] });
    expect(packs).toMatchObject([{ pack: 'eu-gdpr-strict' }, { pack: 'de-only' }]);
    const bytes = Buffer.from(policy?.stream ?? '');
    expect(bytes.includes(readFileSync(packFile('de-only')))).toBe(true);
  });
});

describe('a policy with packs', () => {
  it('narrows to them, and the matrix’s problems name the pack', () => {
    const { problems } = load(files(naming('de-only')));
    expect(problems.map(({ message }) => message).join('\n')).toContain(
      'dub-bedrock never serves contract-review: region eu-west-1 is in IE, which the pack de-only@1.0.0 does not allow',
    );
  });

  it.each([
    ['a pack that does not ship', naming('gdpr'), /yaml:4 packs\[0\]: /],
    ['a pack of another zone', naming('us'), /packs\[0\]: the pack us is of the zone us, the policy of eu/],
    [
      'a pack that leaves nothing',
      (policy: string) => naming('de-only')(policy.replace('[EEA]', '[FR]')),
      /yaml:9 allow\.countries: nothing is left: the pack de-only@1\.0\.0/,
    ],
    [
      'an exception that its pack does not allow',
      (policy: string) => naming('de-only')(policy.replace('countries: [DE]', 'countries: [FR]')),
      /tenants\.agency-de\.allow\.countries: FR is not allowed by the pack de-only@1\.0\.0/,
    ],
    [
      'a workload that is not pinned, which the strict pack forbids',
      (policy: string) => naming('eu-gdpr-strict')(open(policy)),
      /workloads\.contract-review\.pinned: the pack eu-gdpr-strict@1\.0\.0 forbids/,
    ],
    [
      'no approved models under the high-risk pack',
      naming('eu-ai-act-high-risk'),
      /allow\.models: is empty: the pack eu-ai-act-high-risk@1\.0\.0 asks for the list/,
    ],
  ])('is refused with %s', (_, change, expected) => {
    expect(faults(files(change))).toMatch(expected);
  });

  it('keeps records as long as its packs ask, and warns where the document says less', () => {
    const short = (policy: string) => policy.replace('retention_days: 2190', 'retention_days: 30');
    const high_risk = (policy: string) => approving(MODEL)(naming('eu-ai-act-high-risk')(policy));
    const config = load(files((policy) => short(high_risk(policy)), ONE_MODEL));
    expect(config.policies.get('eu-gdpr-strict')?.retentionDays).toBe(184);
    expect(config.warnings).toEqual([
      {
        path: expect.stringContaining('retention_days'),
        message: expect.stringContaining('kept for 184 days'),
      },
    ]);
  });
});

describe('different models behind one workload', () => {
  const models = 'vendor.example-model-20260101-v1:0, example-2026-01-01, local-model-1';

  it('are a warning', () => {
    const { warnings, problems } = load(files((policy) => policy));
    expect(problems).toEqual([]);
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining('par-azure serves contract-review with example-2026-01-01'),
      expect.stringContaining('own-dc-vllm serves contract-review with local-model-1'),
    ]);
    expect(load(files((policy) => policy, ONE_MODEL)).warnings).toEqual([]);
  });

  it('are refused under the high-risk pack', () => {
    const high_risk = (list: string) => (policy: string) =>
      approving(list)(naming('eu-ai-act-high-risk')(policy));
    expect(faults(files(high_risk(models)))).toMatch(
      /failover\.secondary\[1\]: par-azure serves .*: a failover changes the model, which the pack eu-ai-act-high-risk@1\.0\.0 forbids/,
    );
    expect(faults(files(high_risk(MODEL), ONE_MODEL))).toBe('');
  });
});

describe('residency check', () => {
  it('prints in capitals which workload is not pinned and why, and where it may run', async () => {
    const routed = ORIGIN.replace(
      'region: France Central\n    deployment: regional',
      'region: France Central\n    deployment: global',
    );
    const { code, stdout } = await check('--config', files(open, routed));
    expect(stdout).toContain('NOT PINNED TO EU: PUBLIC TEXTS ONLY');
    expect(stdout).toContain('par-azure: anywhere in the world (deployment global)');
    expect(stdout).toMatch(/never par-azure: .* the exception of tenant agency-de/);
    expect(code).toBe(0);
  });

  it('exits 0 with warnings alone, and tells them to people and programs', async () => {
    const text = await check(
      '--config',
      files((policy) => policy),
    );
    expect(text.stderr).toMatch(/warning: .*failover\.secondary\[1\]: par-azure serves/);
    expect(text.stdout).toContain('records kept for 2190 days at least');
    expect(text.code).toBe(0);
    const json = await check('--json', '--config', files(naming('eu-gdpr-strict')));
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: true,
      warnings: [{}, {}],
      matrix: [{ packs: ['eu-gdpr-strict@1.0.0'], unpinned: null }, {}, {}],
    });
  });
});
