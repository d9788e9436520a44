import { describe, expect, it } from 'vitest';
import type { PolicyRow } from '../../origin/store/policy-table.ts';
import type { Opened } from './behaviour.ts';

const policy = (sha256: string, text = 'policy: eu\n'): PolicyRow => ({
  sha256,
  name: 'eu-support',
  version: '1.0.0',
  stream: new TextEncoder().encode(text),
  at: '2026-01-01T00:00:00.000Z',
});

/** What every store must do with the policies that its records cite. */
export function policyBehaviour(name: string, opened: Opened): void {
  const text = async (sha256: string) =>
    new TextDecoder().decode((await opened.store.policyOf(sha256))?.stream);

  describe(`${name}: policies`, () => {
    it('keeps each byte of a policy over a restart', async () => {
      const kept = policy('aa', `O'Brien "ünï" 𝔘 \u0000 \\`);
      await opened.store.keepPolicies([kept]);
      await opened.reopen();
      const found = await opened.store.policyOf('aa');
      expect({ ...found, stream: [...(found?.stream ?? [])] }).toEqual({ ...kept, stream: [...kept.stream] });
      expect(await opened.store.policyOf('ab')).toBeUndefined();
    });

    it('leaves one that is there as it is, and keeps those beside it', async () => {
      await opened.store.keepPolicies([policy('aa', 'first')]);
      await opened.store.keepPolicies([policy('aa', 'second'), policy('bb', 'new')]);
      expect([await text('aa'), await text('bb')]).toEqual(['first', 'new']);
    });

    it('is read to the end in pages, in the order of the hashes', async () => {
      await opened.store.keepPolicies(['cc', 'aa', 'bb'].map((sha256) => policy(sha256)));
      const hashes = async (after: string, limit: number) =>
        (await opened.store.policies(after, limit)).map(({ sha256 }) => sha256);
      expect(await hashes('', 2)).toEqual(['aa', 'bb']);
      expect(await hashes('bb', 2)).toEqual(['cc']);
      expect(await hashes('cc', 2)).toEqual([]);
      expect(await hashes('', 0)).toEqual([]);
    });
  });
}
