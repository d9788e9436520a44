import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { describe, expect, it, vi } from 'vitest';
import { parseAsked } from './command.ts';
import { measure } from './rounds.ts';
import type { Scenario, Subject } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';
import { percentile, summarize } from './summary.ts';
import { table } from './table.ts';

const figures = [{ name: 'speed', unit: 'things/s' }];

/** A scenario whose subjects give these values, one a round, and note whose turn it was. */
function scripted(values: Readonly<Record<string, readonly number[]>>, turns: string[] = []): Scenario {
  const subjects = Object.entries(values).map(([name, speeds]): Subject => {
    const left = [...speeds];
    return {
      name,
      round: async () => {
        turns.push(name);
        return { speed: left.shift() ?? Number.NaN };
      },
    };
  });
  const [base, ...others] = subjects;
  if (base === undefined) throw new Error('there is no subject');
  return {
    ...{ name: 'scripted', measures: 'nothing', figures },
    stage: async () => ({ subjects: [base, ...others], close: async () => void turns.push('closed') }),
  };
}

const unmeasured = { scale: 'tiny', warmUp: 0, folder: '' } as const;

describe('every scenario', () => {
  it.each(SCENARIOS)('$name gives numbers in its tiniest form', async (scenario) => {
    const folder = await mkdtemp(join(tmpdir(), 'residency-bench-test-'));
    try {
      const measured = await measure(scenario, { ...unmeasured, rounds: 1, folder });
      expect(measured.size).toBeGreaterThan(1);
      for (const { min, max } of summarize(scenario, measured)) {
        expect(min).toBeGreaterThan(0);
        expect(max).toBeLessThan(Number.POSITIVE_INFINITY);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('rounds', () => {
  it('let every subject run once, in each round another one first', async () => {
    const turns: string[] = [];
    await measure(scripted({ peer: [1, 1, 1], ours: [1, 1, 1] }, turns), { ...unmeasured, rounds: 3 });
    expect(turns).toEqual(['peer', 'ours', 'ours', 'peer', 'peer', 'ours', 'closed']);
  });

  it('do not count while everything warms up', async () => {
    const scenario = scripted({ peer: [900, 2], ours: [900, 4] });
    const rows = summarize(scenario, await measure(scenario, { ...unmeasured, rounds: 1, warmUp: 1 }));
    expect(rows.map(({ values }) => values)).toEqual([[2], [4]]);
  });

  it('end with the first subject that did not do its work, and what was set up is closed', async () => {
    const turns: string[] = [];
    const scenario = scripted({ peer: [1] }, turns);
    const broken: Scenario = {
      ...scenario,
      stage: async (...args) => ({
        ...(await scenario.stage(...args)),
        subjects: [{ name: 'ours', round: () => Promise.reject(new Error('nothing was proven')) }],
      }),
    };
    const running = measure(broken, { ...unmeasured, rounds: 1 });
    await expect(running).rejects.toThrow('nothing was proven');
    expect(turns).toEqual(['closed']);
  });
});

describe('what is shown of the rounds', () => {
  it('is median and range, and the median of what each round says against the base', async () => {
    // The machine slowed down tenfold in the last round, which says nothing about either.
    const scenario = scripted({ peer: [100, 120, 10], ours: [200, 180, 20] });
    const rows = summarize(scenario, await measure(scenario, { ...unmeasured, rounds: 3 }));
    expect(rows).toMatchObject([
      { subject: 'peer', median: 100, min: 10, max: 120 },
      { subject: 'ours', median: 180, min: 20, max: 200, ratio: 2, added: 60 },
    ]);
    expect(rows[0]).not.toHaveProperty('ratio');
    expect(table(scenario, rows)).toMatch(/ours +speed +180 +20 – 200 +things\/s +2 +\+60/);
  });

  it('is never a number that no round gave', async () => {
    const scenario = scripted({ peer: [1, 1], ours: [1] });
    const measured = await measure(scenario, { ...unmeasured, rounds: 2 });
    expect(() => summarize(scenario, measured)).toThrow('no number for ours: speed');
  });

  it('has percentiles that were measured', () => {
    const values = Array.from({ length: 200 }, (_, index) => 200 - index);
    expect([0, 0.5, 0.99, 1].map((share) => percentile(values, share))).toEqual([1, 100, 198, 200]);
  });
});

describe('the command', () => {
  it('runs everything in full unless less is asked for', () => {
    const names = (args: string[]) => parseAsked(args, SCENARIOS).scenarios.map(({ name }) => name);
    expect(names([])).toEqual(SCENARIOS.map(({ name }) => name));
    expect(names(['proof', 'verify-records'])).toEqual(['verify-records', 'proof']);
    expect(parseAsked([], SCENARIOS)).toMatchObject({ scale: 'full', rounds: 7, json: false });
    expect(parseAsked(['--quick', '--json'], SCENARIOS)).toMatchObject({
      scale: 'quick',
      rounds: 3,
      json: true,
    });
    expect(parseAsked(['--rounds', '2', '--quick'], SCENARIOS)).toMatchObject({ scale: 'quick', rounds: 2 });
  });

  it.each([['no-such-scenario'], ['--rounds=0'], ['--rounds=0x2'], ['--fast']])('refuses %s', (arg) => {
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    expect(() => parseAsked([arg], SCENARIOS)).toThrow(CommanderError);
    expect(said.mock.calls.join()).toContain(arg.split('=')[0]);
    said.mockRestore();
  });
});
