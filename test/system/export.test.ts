import { createReadStream } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unpack } from '../../origin/cli/unpack.ts';
import type { Report } from '../../shared/verify/report.ts';
import { parseTrustedKeys } from '../../shared/verify/trust.ts';
import { verifyBundle } from '../../shared/verify/verify.ts';
import { chat } from '../support/calls.ts';
import { type CommandFolder, commandFolder } from '../support/command.ts';
import { callOrigin, type DirectOrigin, startDirect } from '../support/direct.ts';

let direct: DirectOrigin;
let folder: CommandFolder;

const call = async (tenant: string, id: string, model = 'support-chat') => {
  const answer = await callOrigin({ ...direct, tenant }, '/v1/chat/completions', {
    headers: { 'x-request-id': id },
    body: chat(model),
  });
  await answer.body.dump();
  return answer;
};

beforeAll(async () => {
  direct = await startDirect({ tenants: [{ id: 'acme' }, { id: 'beta' }] });
  folder = await commandFolder({ eu: direct.zone, us: direct.zone }, { beta: 'eu' });
  for (const id of ['one', 'two']) await call('acme', id);
  await call('beta', 'three');
  await call('beta', 'refused', 'no-such-model');
});
afterAll(async () => {
  await folder?.remove();
  await direct?.zone.close();
});

const filesOf = async (file: string): Promise<ReadonlyMap<string, Uint8Array>> => {
  const unpacked = await unpack(createReadStream(join(folder.path, file)));
  if (!unpacked.ok) throw new Error(unpacked.error);
  return unpacked.value;
};

/** What an auditor finds who holds the public half of the origin's key alone. */
async function verified(file: string): Promise<Report> {
  const jwk = JSON.parse(await readFile(join(direct.zone.folder, 'origin.jwk.json'), 'utf8'));
  const keys = parseTrustedKeys(JSON.stringify({ ...jwk, d: undefined }));
  if (!keys.ok) throw new Error(keys.error);
  const trust = { keys: keys.value, witnesses: [], quorum: 0, log: 'residency.test/eu' };
  return verifyBundle(await filesOf(file), trust, { strict: true });
}

const exported = (...args: string[]) => folder.residency('audit', 'export', ...args);

describe('residency audit export', () => {
  it('writes a bundle of all that was recorded so far, which an auditor finds whole', async () => {
    const ran = await exported('--zone', 'eu', '--from', '-1d', '--out', 'whole.tar.gz');
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([0, '', expect.stringContaining('3 receipts')]);
    const report = await verified('whole.tar.gz');
    expect(report.faults).toEqual([]);
    expect(report).toMatchObject({ ok: true, scope: 'log', jurisdiction: 'eu' });
    expect(report.records.proven).toBe((await direct.zone.records()).length);
    expect(report.receipts.map(({ request_id }) => request_id)).toEqual(['one', 'two', 'three']);
    expect((await readdir(folder.path)).filter((name) => name.includes('part'))).toEqual([]);
  });

  it('finds the zone of a tenant, and gives its records alone', async () => {
    const ran = await exported('--from', '-1d', '--tenant', 'beta', '--out', 'beta.tar.gz', '--json');
    expect(ran.stderr).toBe('');
    expect(JSON.parse(ran.stdout)).toMatchObject({ scope: 'tenant', tenant: 'beta', receipts: 1 });
    const report = await verified('beta.tar.gz');
    expect([report.ok, report.faults]).toEqual([true, []]);
    const own = (await direct.zone.records()).filter(({ tenant }) => tenant === 'beta');
    expect(report.records.proven).toBe(own.length);
    const texts = [...(await filesOf('beta.tar.gz'))].map(
      ([name, bytes]) => name + Buffer.from(bytes).toString(),
    );
    expect(texts.join()).not.toContain('acme');
  });

  it('takes a past window in which nothing was recorded for what it is', async () => {
    await exported('--zone', 'eu', '--from', '-1d', '--out', 'first.tar.gz');
    const ran = await exported(
      '--zone',
      'eu',
      '--from',
      '2020-01-01',
      '--to',
      '2020-02-01',
      '--out',
      'empty.tar.gz',
    );
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('Nothing was recorded')]);
    expect(await verified('empty.tar.gz')).toMatchObject({ ok: true, records: { proven: 0 } });
  });

  it.each([
    ['no zone where there are several', ['--from', '-1d'], 'name one with --zone (eu, us run here)'],
    ['a time to come', ['--zone', 'eu', '--from', '2099-01-01', '--to', '2099-01-02'], 'not come yet'],
    ['a tenant that no tenant can be', ['--zone', 'eu', '--from', '-1d', '--tenant', '../x'], '--tenant'],
    ['a file that is there', ['--zone', 'eu', '--from', '-1d', '--out', 'there'], 'exists already'],
    ['two things for one output', ['--zone', 'eu', '--from', '-1d', '--out', '-', '--json'], 'not both'],
  ])('exits 2 and says why after %s', async (_, args, says) => {
    await writeFile(join(folder.path, 'there'), 'evidence');
    const ran = await exported(...args);
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([2, '', expect.stringContaining(says)]);
    expect(await readFile(join(folder.path, 'there'), 'utf8')).toBe('evidence');
  });
});
