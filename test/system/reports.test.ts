import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newSigningKey } from '../../origin/keys/signing-key.ts';
import { chat } from '../support/calls.ts';
import { type CommandFolder, commandFolder } from '../support/command.ts';
import { callOrigin, type DirectOrigin, startDirect } from '../support/direct.ts';

let direct: DirectOrigin;
let folder: CommandFolder;

const call = async (id: string, model = 'support-chat') => {
  const answer = await callOrigin(direct, '/v1/chat/completions', {
    headers: { 'x-request-id': id },
    body: chat(model),
  });
  await answer.body.dump();
};

beforeAll(async () => {
  const fra = { id: 'fra', region: 'eu-central-1', regionHeader: 'x-served-in' };
  direct = await startDirect({ endpoints: [fra, { id: 'dub', region: 'eu-west-1' }] });
  folder = await commandFolder({ eu: direct.zone });
  await call('one');
  await call('two');
  await call('unknown', 'no-such-model');
  const { d: _, ...own } = JSON.parse(await readFile(join(direct.zone.folder, 'origin.jwk.json'), 'utf8'));
  await writeFile(join(folder.path, 'eu.jwks.json'), JSON.stringify({ keys: [own] }));
});
afterAll(async () => {
  await folder?.remove();
  await direct?.zone.close();
});

const audit = (...args: string[]) => folder.residency('audit', ...args);

describe('residency audit diff', () => {
  it('finds everything in its table, and says what was never used', async () => {
    const ran = await audit('diff', '--from', '-1d');
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    expect(ran.stdout).toMatch(/eu-central-1 \(DE\) +2 .* eu-test@1\.0\.0 +yes/);
    expect(ran.stdout).toContain('Everything that was used is in the policy version of its time.');
    expect(ran.stdout).toContain('endpoint dub (eu-test@1.0.0)');
  });

  it('exits 1 over a region outside, with its first request, its count and whom to ask', async () => {
    direct.zone.provider('fra').order({ headers: { 'x-served-in': 'us-east-1' } });
    await call('abroad');
    const ran = await audit('diff', '--from', '-1d', '--json');
    expect(ran.code).toBe(1);
    const { ok, outside } = JSON.parse(ran.stdout);
    expect(ok).toBe(false);
    expect(outside).toMatchObject([
      {
        ...{ kind: 'region', name: 'us-east-1', country: 'US', count: 1, policy: 'eu-test@1.0.0' },
        ...{ owners: ['author', 'reviewer'], first: { request_id: 'abroad', tenant: 'acme' } },
      },
    ]);
  });

  it('reports on a bundle without an origin, by a key that the auditor holds', async () => {
    await audit('export', '--from', '-1d', '--out', 'day.tar.gz');
    const ran = await audit('diff', '--bundle', 'day.tar.gz', '--pubkey', 'eu.jwks.json');
    expect([ran.code, ran.stdout]).toEqual([1, expect.stringContaining('first request abroad of acme')]);
    const keyless = await audit('diff', '--bundle', 'day.tar.gz');
    expect([keyless.code, keyless.stderr]).toEqual([2, expect.stringContaining('--pubkey')]);
  });

  it('says nothing from a bundle that the key does not prove', async () => {
    const { public: other } = await newSigningKey();
    await writeFile(join(folder.path, 'other.jwks.json'), JSON.stringify({ keys: [other] }));
    const ran = await audit('diff', '--bundle', 'day.tar.gz', '--pubkey', 'other.jwks.json');
    expect([ran.code, ran.stdout]).toEqual([1, '']);
    expect(ran.stderr).toContain('NOT PROVEN');
  });
});

describe('residency audit refusals', () => {
  it('lists the integrations to mend', async () => {
    const ran = await audit('refusals', '--from', '-1d');
    expect([ran.code, ran.stderr]).toEqual([0, '']);
    expect(ran.stdout).toMatch(/acme +workload_unknown +1 .* \/v1\/chat\/completions +unknown/);
    expect(ran.stdout).toContain('mend its `model`');
  });
});

describe('residency audit pending', () => {
  it('finds that every call has its end', async () => {
    const ran = await audit('pending');
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining('Every call has ended')]);
  });
});
