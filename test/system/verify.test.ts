import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { packTar } from 'modern-tar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesOf, partsOf } from '../shared/verify/sample-bundle.ts';
import { busyLog } from '../shared/verify/sample-log.ts';

const CLI = fileURLToPath(new URL('../../origin/cli/residency.ts', import.meta.url));

interface Ran {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command as a person types it, with this on its standard input. */
const residency = (args: readonly string[], input: string | Uint8Array = ''): Promise<Ran> =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, [CLI, ...args], (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
    child.stdin?.end(input);
  });

type Entries = Parameters<typeof packTar>[0];

const log = busyLog();
const sound = await partsOf(log, { sizes: [0, 5, log.size] });
const mtime = new Date(0);
const entriesOf = (files: ReadonlyMap<string, Uint8Array>) =>
  [...files].map(([name, body]) => ({ header: { name, size: body.length, mtime }, body }));
const archive = async (entries: Entries): Promise<Buffer> => gzipSync(await packTar(entries));

let folder: string;
let pubkey: string;
const file = (name: string): string => join(folder, name);
const verify = (name: string, ...more: string[]): Promise<Ran> =>
  residency(['verify', file(name), '--pubkey', pubkey, ...more]);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'residency-verify-'));
  pubkey = file('eu.jwks.json');
  const { kid, publicKey } = log.key.trusted;
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid, nbf: 0 };
  await writeFile(pubkey, JSON.stringify({ keys: [jwk] }));
  await writeFile(file('sound.tar.gz'), await archive(entriesOf(filesOf(sound))));
  const changed = {
    ...sound,
    records: sound.records.with(1, log.entry(1).replace('eu-central-1', 'eu-west-1')),
  };
  await writeFile(file('changed.tar.gz'), await archive(entriesOf(filesOf(changed))));
  const open = { ...sound, manifest: { ...sound.manifest, from: '2026-02-28T00:00:00.000Z' } };
  await writeFile(file('gap.tar.gz'), await archive(entriesOf(filesOf(open))));
});
afterAll(() => rm(folder, { recursive: true }));

describe('residency verify', () => {
  it('says in words what a bundle proves, and exits with 0', async () => {
    const { code, stdout, stderr } = await verify('sound.tar.gz', '--strict');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`${log.size} records proven to stand in the log`);
    expect(stdout).toContain('None is missing between the first and the last checkpoint.');
    expect(stdout).toContain('eu-central-1 (hostname): 5');
    expect(stdout).toContain('PROVEN: no fault was found.');
  });

  it('prints what programs read', async () => {
    const { code, stdout } = await verify('sound.tar.gz', '--json');
    const report = JSON.parse(stdout);
    expect(code).toBe(0);
    expect(report).toMatchObject({ ok: true, faults: [] });
    expect(report.receipts[0]).toMatchObject({
      request_id: 'call-1',
      tenant: 'acme',
      endpoint: 'fra',
      provider_region: 'eu-central-1',
      serving_region: 'eu-central-1',
      policy: 'eu-support@1.0.0',
    });
  });

  it('exits with 1 and names the call whose record was changed', async () => {
    const { code, stdout } = await verify('changed.tar.gz');
    expect(code).toBe(1);
    expect(stdout).toContain('NOT PROVEN');
    expect(stdout).toMatch(/changed \(.*\): request call-1, record \w+, place 1/);
  });

  it('exits with 1 for what only a strict run fails on, if it is strict', async () => {
    expect((await verify('gap.tar.gz')).code).toBe(0);
    expect((await verify('gap.tar.gz', '--strict')).code).toBe(1);
  });

  it('reads a bundle that was unpacked and packed again', async () => {
    const folders = ['./', './proofs/', './policies/'].map(
      (name) => ({ header: { name, size: 0, type: 'directory', mtime } }) as const,
    );
    const entries = entriesOf(filesOf(sound)).map(({ header, body }) => ({
      header: { ...header, name: `./${header.name}` },
      body,
    }));
    await writeFile(file('again.tar.gz'), await archive([...folders, ...entries]));
    expect((await verify('again.tar.gz', '--strict')).code).toBe(0);
  });

  it('reads a bundle, a receipt, the proofs of a call and a tlog-proof from standard input', async () => {
    const stdin = (input: string | Uint8Array, ...more: string[]) =>
      residency(['verify', '-', '--pubkey', pubkey, ...more], input);
    expect((await stdin(await readFile(file('sound.tar.gz')))).code).toBe(0);
    expect((await stdin(await log.receipt(1))).stdout).toContain('call-1 of acme was answered by fra');
    expect((await stdin('{"request_id":"call-1"}')).code).toBe(1);
    const [name = '', proof = ''] = [...sound.tlogProofs][0] ?? [];
    expect(name).toContain(log.records[1]?.id);
    await writeFile(file('record.json'), log.entry(1));
    expect((await stdin(proof, '--record', file('record.json'))).code).toBe(0);
    expect((await stdin(proof)).code).toBe(1);
  });

  it('demands the checkpoint that the auditor holds', async () => {
    await writeFile(file('held.txt'), log.checkpoint(7));
    expect((await verify('sound.tar.gz', '--checkpoint', file('held.txt'))).code).toBe(0);
    const other = busyLog(log.key);
    other.add('refused');
    await writeFile(file('later.txt'), other.checkpoint());
    expect((await verify('sound.tar.gz', '--checkpoint', file('later.txt'))).code).toBe(1);
  });

  it.each<[string, () => Promise<Uint8Array>, string]>([
    ['is cut off', async () => (await archive(entriesOf(filesOf(sound)))).subarray(0, 3_000), 'not a whole'],
    ['is no archive', async () => gzipSync('nothing'.repeat(500)), 'not a whole'],
    ['is no bundle at all', async () => Buffer.from('nothing'), 'no bundle'],
    [
      'holds a link',
      () =>
        archive([{ header: { name: 'manifest.json', type: 'symlink', linkname: '/etc/passwd', size: 0 } }]),
      'no ordinary file',
    ],
    [
      'holds a file twice',
      () => archive([...entriesOf(filesOf(sound)), ...entriesOf(filesOf(sound))]),
      'two files called',
    ],
  ])('exits with 2 for input that %s', async (_, make, words) => {
    await writeFile(file('unusable'), await make());
    const { code, stderr } = await verify('unusable');
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });

  it('exits with 2 where it is used wrongly', async () => {
    const bundle = file('sound.tar.gz');
    expect((await residency(['verify', bundle])).code).toBe(2);
    expect((await residency(['verify', bundle, '--pubkey', file('none')])).code).toBe(2);
    expect((await verify('none')).code).toBe(2);
    expect((await verify('sound.tar.gz', '--quorum', '1')).code).toBe(2);
    expect((await verify('sound.tar.gz', '--witness', pubkey)).code).toBe(2);
  });

  it('refuses a private key where a public one is asked for', async () => {
    const secret = log.key.privateKey.export({ format: 'jwk' });
    await writeFile(file('private.jwk.json'), JSON.stringify(secret));
    const { code, stderr } = await residency([
      'verify',
      file('sound.tar.gz'),
      '--pubkey',
      file('private.jwk.json'),
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('private key');
    expect(stderr).not.toContain(String(secret.d));
  });
});

describe('residency keygen', () => {
  it('writes from when, and if asked until when, signatures of the key count', async () => {
    const before = Math.floor(Date.now() / 1000);
    expect((await residency(['keygen', '--out', file('log.jwk.json'), '--days', '2'])).code).toBe(0);
    const { keys } = JSON.parse(await readFile(file('log.jwks.json'), 'utf8'));
    expect(keys[0].nbf).toBeGreaterThanOrEqual(before);
    expect(keys[0].exp - keys[0].nbf).toBe(2 * 86_400);
    expect(JSON.parse(await readFile(file('log.jwk.json'), 'utf8'))).toMatchObject(keys[0]);
    expect((await residency(['keygen', '--out', file('x.jwk.json'), '--days', '-1'])).code).toBe(2);
  });
});
