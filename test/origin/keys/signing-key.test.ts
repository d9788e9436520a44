import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { newSigningKey, writePrivateKey, writePublicKeys } from '../../../origin/keys/signing-key.ts';

const folder = mkdtempSync(join(tmpdir(), 'residency-keys-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const key = await newSigningKey();

test('a key set that is being written again is never read in part', async () => {
  const file = join(folder, 'keys', 'public.jwks.json');
  await writePublicKeys(file, [key.public]);
  let writing = true;
  const writes = Promise.all(Array.from({ length: 200 }, () => writePublicKeys(file, [key.public])));
  const done = writes.then(() => {
    writing = false;
  });
  while (writing) {
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ keys: [key.public] });
    await new Promise(setImmediate);
  }
  await done;
  expect(readdirSync(join(folder, 'keys'))).toEqual(['public.jwks.json']);
});

test('a private key is its owner’s alone and is never replaced, not even by a writer at the same moment', async () => {
  const file = join(folder, 'private', 'key.jwk.json');
  const writes = await Promise.allSettled(
    Array.from({ length: 20 }, async () => await writePrivateKey(file, (await newSigningKey()).private)),
  );
  expect(writes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const kept = readFileSync(file, 'utf8');
  await expect(writePrivateKey(file, key.private)).rejects.toThrow('EEXIST');
  expect(readFileSync(file, 'utf8')).toBe(kept);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(folder, 'private'))).toEqual(['key.jwk.json']);
});
