import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../origin/config.ts';
import { ENVIRONMENT, ORIGIN, originFiles, POLICY, TENANTS } from './origin-files.ts';

/** Warnings, each with its place in the file, of a configuration with some files replaced. */
function warnings(replaced: Record<string, string>): string {
  const loaded = loadConfig(originFiles(replaced), ENVIRONMENT);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  return loaded.value.warnings.map(({ path, message }) => `${path}: ${message}`).join('\n');
}

const policy = (from: string | RegExp, to: string) => ({
  'policies/eu-gdpr-strict.yaml': POLICY.replace(from, to),
});

describe('an exception that narrows nobody', () => {
  it('is told where its tenant is misspelt', () => {
    expect(warnings(policy('agency-de:', 'agancy-de:'))).toMatch(
      /yaml:24 tenants\.agancy-de: the exception narrows nobody: no tenant of that name is declared/,
    );
  });

  it('is told where its tenant has another policy', () => {
    const second = POLICY.replace('policy: eu-gdpr-strict', 'policy: other');
    const files = {
      'eu.yaml': ORIGIN.replace('strict.yaml]', 'strict.yaml, policies/other.yaml]'),
      'policies/other.yaml': second.replace(/\ntenants:[\s\S]*$/, '\n'),
      'tenants/eu.yaml': TENANTS.replace(/(agency-de:\s+jurisdiction: eu\s+policy:) \S+/, '$1 other'),
    };
    expect(warnings(files)).toContain('narrows nobody: it has the policy other');
  });

  it('is not told where it narrows somebody, or where no tenant is declared at all', () => {
    expect(warnings({})).not.toContain('narrows nobody');
    expect(warnings({ 'tenants/eu.yaml': 'tenants: {}' })).not.toContain('narrows nobody');
  });
});

describe('streams that the grade of evidence refuses', () => {
  const inBodies = {
    'eu.yaml': ORIGIN.replace('    country: DE\n', '    country: DE\n    region_body: meta.region\n'),
  };
  const asking = (grade: string) => policy('region_evidence: declared', `region_evidence: ${grade}`);
  const told =
    /failover\.last_resort: own-dc-vllm shows its region in bodies alone, .* each stream is refused/;

  it('are told of an endpoint that shows its region in bodies alone, to a policy that asks for that', () => {
    expect(warnings({ ...inBodies, ...asking('response_body') })).toMatch(told);
    const exception = policy('{ countries: [DE] }', '{ countries: [DE], region_evidence: response_body }');
    expect(warnings({ ...inBodies, ...exception })).toMatch(told);
  });

  it('are not where a weaker grade will do, or a header shows it', () => {
    expect(warnings({ ...inBodies, ...asking('hostname') })).not.toMatch(told);
    const header = inBodies['eu.yaml'].replace('region_body:', 'region_header: x-region\n    region_body:');
    expect(warnings({ 'eu.yaml': header, ...asking('response_body') })).not.toMatch(told);
  });
});
