import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../origin/config.ts';
import { EDGE_KEY, ENVIRONMENT, ORIGIN, ORIGIN_KEY, originFiles, POLICY, TENANTS } from './origin-files.ts';

/** Every fault as one line, `place: message`, without the folder. */
function faults(replaced: Record<string, string>, env: NodeJS.ProcessEnv = ENVIRONMENT): readonly string[] {
  const file = originFiles(replaced);
  const loaded = loadConfig(file, env);
  if (loaded.ok) return [];
  return loaded.error.map(({ path, message }) =>
    `${path}: ${message}`.replaceAll(`${join(file, '..')}/`, ''),
  );
}

const origin = (from: string | RegExp, to: string) => ({ 'eu.yaml': ORIGIN.replace(from, to) });
const policy = (from: string | RegExp, to: string) => ({
  'policies/eu-gdpr-strict.yaml': POLICY.replace(from, to),
});
const tenants = (from: string | RegExp, to: string) => ({ 'tenants/eu.yaml': TENANTS.replace(from, to) });

describe('every fault is told, with its line and member', () => {
  it('tells faults of all files at once', () => {
    const found = faults({
      ...origin('port: 8801', 'port: 99999'),
      ...policy('fail_closed', 'fail_open'),
      ...tenants('jurisdiction: eu', 'jurisdiction: us'),
      'keys/edge.jwks.json': '{"keys":[]}',
    });
    expect(found).toEqual([
      expect.stringMatching(/^eu\.yaml:2 listen\.port: /),
      expect.stringMatching(
        /^policies\/eu-gdpr-strict\.yaml:20 workloads\.contract-review\.failover\.on_exhausted: must be fail_closed/,
      ),
      expect.stringMatching(/^tenants\/eu\.yaml:3 tenants\.acme\.jurisdiction: is us, this origin is eu/),
      expect.stringMatching(/^keys\/edge\.jwks\.json: holds no key/),
    ]);
  });

  it.each([
    [
      'a member nobody knows',
      origin('log_name', 'log_nam: x\nlog_name'),
      'eu.yaml:7 log_nam: is not a member',
    ],
    [
      'a member twice',
      origin('log_name', 'store: sqlite:b.db\nlog_name'),
      'eu.yaml:7: a member stands here twice',
    ],
    [
      'a member called __proto__',
      origin('log_name', '__proto__: {}\nlog_name'),
      'a member cannot be called __proto__',
    ],
    [
      'a number and a text that are one member',
      tenants('tenants:', 'tenants:\n  123: {}\n  "123": {}'),
      'tenants/eu.yaml:3: a member stands here twice',
    ],
    [
      'a member whose name is that of another by reference',
      policy('allow:', 'allow:\n  &c countries: [DE]\n  *c : [EEA]'),
      'yaml:9: the name of a member must be written out',
    ],
    [
      'a member whose name is a list',
      origin('log_name', '? [a]\n: 1\nlog_name'),
      'eu.yaml:7: the name of a member must be written out',
    ],
    [
      'a member called __proto__ by reference',
      tenants('tenants:', 'x: &p __proto__\n*p : {}\ntenants:'),
      'yaml:2: the name of a member must be written out',
    ],
    ['YAML that is none', { 'eu.yaml': 'a: [' }, 'eu.yaml:1: '],
    ['a document that is a list', { 'eu.yaml': '[]' }, 'eu.yaml:1: Invalid input'],
    ['a records store in memory', origin('sqlite:data/eu.db', '"sqlite::memory:"'), 'eu.yaml:4 store: '],
    ['no endpoint', origin(/endpoints:[\s\S]*\npolicies:/, 'endpoints: []\npolicies:'), 'names no endpoint'],
    [
      'one address for callers and operators',
      origin('port: 8901', 'port: 8801'),
      'is the port of "listen" too',
    ],
    [
      'operators’ routes for everybody',
      origin(
        'admin:  { host: 127.0.0.1, port: 8901, token_env: RESIDENCY_ADMIN_TOKEN }',
        'admin: { host: 0.0.0.0, port: 8901 }',
      ),
      'eu.yaml:3 admin.host: can be reached from elsewhere',
    ],
    [
      'a region nobody knows',
      origin('region: own-dc-1\n    country: DE', 'region: own-dc-1'),
      'own-dc-1 is not in the catalogue',
    ],
    [
      'the same endpoint id twice',
      origin('id: dub-bedrock', 'id: fra-bedrock'),
      'eu.yaml:18 endpoints[1].id: ',
    ],
    [
      'plain http',
      origin('http://127.0.0.1:8000', 'http://vllm.example'),
      'is http, which only a loopback host may be',
    ],
    [
      'a limit nobody knows',
      { 'eu.yaml': `${ORIGIN}limits: { body_byte: 1 }\n` },
      'limits.body_byte: is not a member',
    ],
    ['a limit of nothing', { 'eu.yaml': `${ORIGIN}limits: { ledger_ms: 0 }\n` }, 'limits.ledger_ms: '],
    [
      'a file that is not there',
      origin('policies/eu-gdpr-strict.yaml', 'policies/none.yaml'),
      'policies/none.yaml: cannot be opened (ENOENT)',
    ],
    ['a folder for a file', origin('tenants/eu.yaml', 'tenants'), 'tenants: is not a regular file'],
  ])('refuses %s', (_, replaced, expected) => {
    expect(faults(replaced).join('\n')).toContain(expected);
  });

  it.each([
    ...['A.Person', '" a.person "', 'ａ.person', '"a.per\\u200Bson"'].map(
      (name): [string, Record<string, string>, string] => [
        `an author who reviews as ${name}`,
        policy('b.person', name),
        'yaml:5 reviewer: is the author',
      ],
    ),
    [
      'a name made of two alphabets',
      policy('b.person', 'а.person'),
      'yaml:5 reviewer: mixes letters of several alphabets',
    ],
    ['a name that does not show', policy('b.person', '"\\u3164"'), 'yaml:5 reviewer: shows nothing'],
    [
      'another zone’s policy',
      policy('jurisdiction: eu', 'jurisdiction: us'),
      'the policy is of us, this origin of eu',
    ],
    [
      'a country outside the zone',
      policy('countries: [EEA]', 'countries: [EEA, CH]'),
      'yaml:8 allow.countries[1]: CH is not in the zone eu',
    ],
    ['UK for GB', policy('countries: [EEA]', 'countries: [UK]'), 'the ISO code of the United Kingdom is GB'],
    [
      'global deployments',
      policy('deployments: [regional]', 'deployments: [regional, global]'),
      'so no zone can allow them',
    ],
    [
      'a graph with an unknown endpoint',
      policy('par-azure]', 'par-azur]'),
      'secondary[1]: the graph names par-azur, which is not in the registry',
    ],
    [
      'a graph with one endpoint twice',
      policy('last_resort: own-dc-vllm', 'last_resort: fra-bedrock'),
      'last_resort: the endpoint fra-bedrock stands in this graph twice',
    ],
    [
      'any way on after the last endpoint',
      policy('on_exhausted: fail_closed', 'on_exhausted: any_region'),
      'an outage never widens a zone',
    ],
    [
      'a region that is a typing error',
      policy('regions: []', 'regions: [eu-centrl-1]'),
      'eu-centrl-1 is a region of neither',
    ],
    [
      'an exception that widens',
      policy('countries: [DE]', 'countries: [DE, US]'),
      'tenants.agency-de.allow.countries: US is not allowed by the policy itself',
    ],
    ...['regions', 'models'].map((list): [string, Record<string, string>, string] => [
      `an exception whose ${list} are an empty list`,
      policy('allow: { countries: [DE] }', `allow: { ${list}: [] }`),
      `tenants.agency-de.allow.${list}: is empty: leave it out`,
    ]),
    [
      'an exception whose workloads are an empty list',
      policy('allow: { countries: [DE] }', 'workloads: []'),
      'tenants.agency-de.workloads: is empty: leave it out',
    ],
    [
      'an exception that asks for less evidence',
      policy(
        /region_evidence: declared([\s\S]*)countries: \[DE\]/,
        'region_evidence: hostname$1region_evidence: declared',
      ),
      'is weaker than the policy’s hostname'.replace('’', "'"),
    ],
    [
      'a workload that is not pinned and does not say why',
      policy('class: large', 'class: large\n    pinned: false'),
      'workloads.contract-review: is not pinned: say in "reason" why it need not be',
    ],
    ['a policy without workloads', policy(/workloads:[\s\S]*$/, 'workloads: {}\n'), 'names no workload'],
    ['a version that is a number', policy('version: 4.2.0', 'version: 4.2'), 'put it into quotes'],
  ])('refuses a policy with %s', (_, replaced, expected) => {
    expect(faults(replaced).join('\n')).toContain(expected);
  });

  it.each([
    [
      'an unknown policy',
      tenants('policy: eu-gdpr-strict', 'policy: none'),
      'yaml:4 tenants.acme.policy: no policy is called none; this origin has eu-gdpr-strict',
    ],
    [
      'an unknown team at a key',
      tenants('team: irish', 'team: dutch'),
      'keys[0].team: the tenant has no team dutch',
    ],
    [
      'a team that only objects have',
      tenants('team: irish', 'team: constructor'),
      'the tenant has no team constructor',
    ],
    ['a lock that locks everything', tenants('[eu-west-1]', '[]'), 'leave it out for no lock'],
    [
      'a key of another tenant',
      tenants('2'.repeat(64), '1'.repeat(64)),
      'tenants.agency-de.keys[0].sha256: is the hash of the key acme/k2 too',
    ],
    ['a key id twice', tenants('id: k2', 'id: k1'), 'the tenant has the key id k1 twice'],
    ['a name no tenant has', tenants('acme:', 'ACME:'), 'is not a tenant id'],
  ])('refuses a tenants file with %s', (_, replaced, expected) => {
    expect(faults(replaced).join('\n')).toContain(expected);
  });

  it.each([
    ['no key', { 'keys/edge.jwks.json': '{"keys":[]}' }, 'holds no key: without one no edge can be believed'],
    [
      'a private key among the edge’s',
      { 'keys/edge.jwks.json': JSON.stringify({ keys: [EDGE_KEY.private] }) },
      'keys[0]: is a private key',
    ],
    [
      'one kid on two keys',
      {
        'keys/edge.jwks.json': JSON.stringify({
          keys: [EDGE_KEY.public, { ...ORIGIN_KEY.public, kid: 'edge-1' }],
        }),
      },
      'has one kid on two keys',
    ],
    [
      'an edge key without kid',
      { 'keys/edge.jwks.json': JSON.stringify({ keys: [{ ...EDGE_KEY.public, kid: undefined }] }) },
      'is not a public Ed25519 key',
    ],
    [
      'a shared secret for a key',
      { 'keys/edge.jwks.json': '{"keys":[{"kty":"oct","k":"c2VjcmV0","kid":"a"}]}' },
      'is not a public Ed25519 key',
    ],
    [
      'a public signing key',
      { 'keys/eu.jwk.json': JSON.stringify(ORIGIN_KEY.public) },
      'is not a private Ed25519 key',
    ],
    [
      'halves of two keys',
      { 'keys/eu.jwk.json': JSON.stringify({ ...ORIGIN_KEY.private, x: EDGE_KEY.public.x }) },
      'keys/eu.jwk.json: ',
    ],
    ['a key file that is no JSON', { 'keys/eu.jwk.json': 'not json' }, 'keys/eu.jwk.json: is not JSON'],
  ])('refuses %s', (_, replaced, expected) => {
    expect(faults(replaced).join('\n')).toContain(expected);
  });
});

describe('secrets', () => {
  it('names each variable that is not set, where it is asked for', () => {
    expect(faults({}, {})).toEqual([
      'eu.yaml:15 endpoints[0].credential_env: endpoint fra-bedrock: the environment variable BEDROCK_EU_KEY is not set',
      'eu.yaml:23 endpoints[1].credential_env: endpoint dub-bedrock: the environment variable BEDROCK_EU_KEY is not set',
      'eu.yaml:3 admin.token_env: the environment variable RESIDENCY_ADMIN_TOKEN is not set',
    ]);
  });

  it('never repeats a secret in a fault, wherever somebody put it', () => {
    const marker = 'sk-live-MARKER-0123456789';
    const found = [
      ...faults(origin('BEDROCK_EU_KEY', marker)),
      ...faults(origin('https://acme.openai', `https://user:${marker}@acme.openai`)),
      ...faults(origin('/openai/v1', `/openai/v1?key=${marker}`)),
      ...faults(origin('sqlite:data/eu.db', `mysql://u:${marker}@db`)),
      ...faults({ 'keys/eu.jwk.json': `{"d": ${marker}` }),
      ...faults({ 'keys/eu.jwk.json': JSON.stringify({ ...ORIGIN_KEY.private, d: marker }) }),
      ...faults({ 'eu.yaml': `${ORIGIN}bad: "${marker}\n` }),
      ...faults(tenants('a'.repeat(64), marker)),
      ...faults({}, { ...ENVIRONMENT, BEDROCK_EU_KEY: `${marker}\r\nx-evil: 1` }),
    ];
    expect(found.length).toBeGreaterThanOrEqual(9);
    expect(found.join('\n')).not.toContain('MARKER');
  });
});

describe('files that would hang or fill a process', () => {
  it('refuses aliases that multiply', () => {
    const levels = Array.from({ length: 9 }, (_, level) => {
      const inner = level === 0 ? '"lol"' : `*l${level - 1}`;
      return `l${level}: &l${level} [${Array.from({ length: 9 }, () => inner).join(', ')}]`;
    });
    expect(faults({ 'eu.yaml': levels.join('\n') })).toEqual([
      expect.stringContaining('is not a YAML document'),
    ]);
  });

  it('refuses what nests beyond any sense', () => {
    const [fault] = faults({ 'eu.yaml': '['.repeat(200_000) });
    expect(fault).toMatch(/^eu\.yaml/);
  });

  it('refuses a file of hundreds of megabytes unread', () => {
    expect(faults({ 'eu.yaml': ' '.repeat(16 * 1024 * 1024 + 1) })).toEqual([
      expect.stringContaining('is larger than'),
    ]);
  });

  it('does not wait at a pipe that nobody writes to', () => {
    const file = originFiles(origin('tenants/eu.yaml', 'tenants/pipe'));
    execFileSync('mkfifo', [join(file, '../tenants/pipe')]);
    const loaded = loadConfig(file, ENVIRONMENT);
    expect(!loaded.ok && loaded.error[0]?.message).toBe('is not a regular file');
  });
});
