import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeStack } from '../../../origin/control/stack-file.ts';
import { endpointOf } from '../../support/admin.ts';
import { type DirectOrigin, startDirect } from '../../support/direct.ts';
import { ADMIN_TOKEN } from '../../support/zone.ts';

const CLI = fileURLToPath(new URL('../../../origin/cli/residency.ts', import.meta.url));
const run = promisify(execFile);

let direct: DirectOrigin;
let data: string;

beforeAll(async () => {
  direct = await startDirect();
  const { admin, url } = direct.zone.origin;
  data = await mkdtemp(join(tmpdir(), 'residency-command-'));
  const origins = { eu: { url, admin, admin_token: ADMIN_TOKEN } };
  await writeStack(data, { edge: url, origins, tenants: [], providers: {} });
});
afterAll(async () => {
  await direct.zone.close();
  await rm(data, { recursive: true });
});

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command as a person types it. */
const residency = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> =>
  run(process.execPath, [CLI, ...args], { env: { ...process.env, ...env } }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );

const endpoints = (...args: string[]): Promise<Ran> => residency(['endpoints', ...args, '--data', data]);

const rowOf = ({ stdout }: Ran, id: string): string[] =>
  stdout
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/))
    .find(([, endpoint]) => endpoint === id) ?? [];

describe('residency audit tail', () => {
  it('says that there is no record yet, and to a program nothing', async () => {
    const empty = await residency(['audit', 'tail', '--data', data]);
    expect(empty).toEqual({ code: 0, stdout: '', stderr: 'There is no record yet.\n' });
  });
});

describe('residency endpoints', () => {
  it('shows each endpoint of the local stack in a line, with no set-up', async () => {
    const shown = await endpoints();
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(rowOf(shown, 'endpoint')).toEqual([
      ...['zone', 'endpoint', 'allowed', 'health', 'circuit', 'since', 'tried', 'next', 'failed'],
      ...['first token', 'where', 'serves', 'why'],
    ]);
    expect(rowOf(shown, 'dub')).toEqual([
      ...['eu', 'dub', 'yes', 'ok', 'closed', '-', '-', '-', '-', '-', 'eu-west-1 (IE)', 'support-chat'],
    ]);
  });

  it('takes an endpoint out, says how it is put back, and puts it back', async () => {
    const opened = await endpoints('open', 'fra', '--why', 'it loses requests', '--by', 'ana');
    expect(opened.code).toBe(0);
    expect(rowOf(opened, 'fra').slice(2)).toEqual([
      ...['yes', 'OUT', 'forced open', '0 s ago', '-', '-', '-', '-'],
      ...['eu-central-1 (DE)', 'support-chat', 'it loses requests, by ana'],
    ]);
    expect(opened.stdout).toContain(
      `  npm run residency -- endpoints release fra --zone eu --data ${data} --why '…'\n`,
    );
    expect(await endpointOf(direct.zone, 'fra')).toMatchObject({ usable: false, ordered_by: 'ana' });
    const told = await residency(['audit', 'tail', '--data', data]);
    expect(told.stdout).toContain('by ana: circuit forced open, was closed: it loses requests');
    const released = await endpoints('release', 'fra', '--why', 'mended', '--json');
    expect(JSON.parse(released.stdout).endpoints).toMatchObject([
      { jurisdiction: 'eu', id: 'fra', usable: true, state: 'half_open' },
    ]);
  });

  it('gives an order an end in minutes, under the name of whoever is logged in', async () => {
    const shown = await endpoints('close', 'dub', '--why', 'load test', '--minutes', '90');
    expect(rowOf(shown, 'dub').slice(2, 8)).toEqual([
      'yes',
      'ok',
      'forced closed',
      '0 s ago',
      '-',
      'in 90 min',
    ]);
    expect((await endpointOf(direct.zone, 'dub')).ordered_by).not.toBeNull();
  });

  it('speaks to one origin by its admin address and a token from the environment', async () => {
    const args = ['endpoints', '--json', '--admin', direct.zone.origin.admin];
    const shown = await residency(args, { RESIDENCY_ADMIN_TOKEN: ADMIN_TOKEN });
    expect(JSON.parse(shown.stdout).endpoints).toHaveLength(4);
    const refused = await residency(args, { RESIDENCY_ADMIN_TOKEN: 'wrong' });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('does not accept the admin token'),
    ]);
  });

  it('says how an endpoint is put back at the origin that was asked', async () => {
    await endpoints('open', 'dub-messages', '--why', 'x');
    const { admin } = direct.zone.origin;
    const shown = await residency(['endpoints', '--admin', admin], { RESIDENCY_ADMIN_TOKEN: ADMIN_TOKEN });
    expect(shown.stdout).toContain(`endpoints release dub-messages --admin ${admin} --why '…'\n`);
    await endpoints('release', 'dub-messages', '--why', 'x');
  });

  it('exits 1 where the answer is no, and says what there is', async () => {
    const unknown = await endpoints('open', 'paris', '--why', 'x');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('there are fra, dub, ')]);
    const nothing = await endpoints('release', 'fra-messages', '--why', 'x');
    expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringContaining('nothing to release')]);
  });

  it.each([
    ['an order without a reason', ['open', 'fra'], '--why'],
    ['an order over no endpoint', ['open', '--why', 'x'], 'id'],
    [
      'an end that is no number of minutes',
      ['open', 'fra', '--why', 'x', '--minutes', 'soon'],
      '--minutes takes',
    ],
    ['a release with an end', ['release', 'fra', '--why', 'x', '--minutes', '5'], '--minutes'],
    ['a zone that does not run', ['--zone', 'jp'], 'no zone jp'],
    ['a word that is no order', ['explode'], 'explode'],
  ])('exits 2 after %s', async (_, args, says) => {
    const ran = await endpoints(...args);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(says)]);
  });
});
