import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Chance } from '../simulation/chance.ts';
import { CrashingOrigin } from './crashing-origin.ts';
import type { Failpoint } from './failpoint.ts';

/** `CRASH_ROUNDS` and `CRASH_SEED` ask for more kills under load, or for the same again. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 2);
const SEED = Number(process.env.CRASH_SEED ?? 1);
const CLIENTS = 6;
/** A round has this many answers at most. */
const ANSWERS = 60;

const WHEN = ['before', 'after'] as const;

const each = (...writes: readonly Failpoint['write'][]): Failpoint[] =>
  writes.flatMap((write) => WHEN.map((when) => ({ write, when })));

let origin: CrashingOrigin;

beforeAll(async () => {
  origin = await CrashingOrigin.start();
});
afterAll(() => origin?.close());

// One log for all, so that what was given away in one life has to hold in every later one.
beforeEach(async () => {
  if (origin.life.over) await origin.restart();
});

/** Does something until the origin has died of it, with other calls under way. */
async function dieOf(failpoint: Failpoint, act: () => Promise<void>): Promise<void> {
  const { life } = origin;
  await life.arm(failpoint);
  const acting = async () => {
    while (!life.over) await act();
  };
  await Promise.all([life.end(), origin.load(1), acting()]);
  expect(await life.end()).toBe('SIGKILL');
}

async function expectWholeAsLeft(about = ''): Promise<void> {
  await origin.evidence.takeFile();
  expect(await origin.evidence.faultsAsLeft(), about).toEqual([]);
}

async function expectWhole(about = ''): Promise<void> {
  await expectWholeAsLeft(about);
  await origin.restart();
  expect(await origin.faults(), about).toEqual([]);
}

async function dieAtStart(write: Failpoint['write']): Promise<void> {
  for (const when of WHEN) {
    expect(await origin.startDoomed({ write, when })).toBe('SIGKILL');
    await expectWholeAsLeft(when);
  }
  await expectWhole();
}

describe('an origin that dies at a write has everything that it gave away when it starts again:', () => {
  it.each(each('append pending', 'append served', 'append completed'))('$when $write', async (failpoint) => {
    await dieOf(failpoint, () => origin.call());
    await expectWhole();
  });

  it.each(each('publish', 'checkpoint file', 'cosign'))('$when $write', async (failpoint) => {
    await dieOf(failpoint, () => origin.publish());
    await expectWhole();
  });

  it.each(each('saveHold'))('$when $write', async (failpoint) => {
    await dieOf(failpoint, () => origin.order('/admin/holds', { tenant: 'globex' }));
    await expectWhole();
  });

  it.each(each('prune'))('$when $write', async (failpoint) => {
    await dieOf(failpoint, () => origin.order('/admin/prune', {}));
    await expectWhole();
  });

  it.each(each('close'))('$when $write', async (failpoint) => {
    await dieOf(failpoint, async () => {
      origin.life.kill('SIGTERM');
      await origin.life.end();
    });
    await expectWhole();
  });

  it('before and after keepPolicies, with a policy that its records then cite', async () => {
    origin.life.kill('SIGKILL');
    await origin.life.end();
    await origin.newPolicy();
    await dieAtStart('keepPolicies');
    await origin.call();
    expect(await origin.faults()).toEqual([]);
  });

  it('before and after append abandoned, over calls that another crash left open', async () => {
    origin.provider.reset();
    origin.provider.order({ gate: 'headers' });
    const call = origin.call();
    await origin.provider.waitFor(({ path }) => path.endsWith('/chat/completions'));
    origin.life.kill('SIGKILL');
    await Promise.all([origin.life.end(), call]);
    origin.provider.reset();
    await dieAtStart('append abandoned');
  });

  it('and it did give away receipts and checkpoints', () => {
    expect(origin.evidence.receipts.length).toBeGreaterThan(5);
    expect(origin.evidence.notes).toBeGreaterThan(5);
  });
});

/** Calls, checkpoints and a prune at once, killed when so many calls have been answered. */
async function killAfter(answers: number): Promise<void> {
  const { life } = origin;
  let left = answers;
  const load = origin.load(CLIENTS, () => {
    left -= 1;
    if (left === 0) life.kill('SIGKILL');
  });
  const publishing = async () => {
    while (!life.over) await origin.publish();
  };
  await Promise.all([load, publishing(), origin.order('/admin/prune', {})]);
}

describe('an origin that is killed at any moment under load', () => {
  it(
    'keeps the record of every receipt, every checkpoint, and one end for each call',
    async () => {
      const chance = new Chance(SEED);
      for (let round = 0; round < ROUNDS; round += 1) {
        const answers = chance.int(1, ANSWERS);
        await killAfter(answers);
        await expectWhole(`round ${round} of seed ${SEED}, after ${answers} answers`);
      }
    },
    10_000 + ROUNDS * 20_000,
  );
});
