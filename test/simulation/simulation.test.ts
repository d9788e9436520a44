import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Documents, simulatedDocuments } from './documents.ts';
import { Stillness } from './stillness.ts';
import { sum, type Tally } from './tally.ts';
import { World } from './world.ts';

const CALLS = 250;
const { SIMULATION_SEED, SIMULATION_RUNS } = process.env;
const FIRST = Number(SIMULATION_SEED ?? 1);
const RUNS = Number(SIMULATION_RUNS ?? (SIMULATION_SEED === undefined ? 40 : 1));

/** What a simulation has to meet to say anything. */
const MET = [
  'outcome served',
  'outcome refused',
  'outcome failed',
  'caller cut off',
  'caller hung up',
  'calls with several attempts',
  'probes',
  'record interrupted',
  'record violation',
  'record abandoned',
  'circuit closed to open',
  'circuit half_open to open',
  'circuit half_open to closed',
  'code no_compliant_endpoint',
  'code region_blocked',
  'code ledger_unavailable',
  'code upstream_rejected',
  'code upstream_interrupted',
  'code idempotency_in_flight',
];

describe('a zone whose endpoints, callers, store and process fail at random', () => {
  const stillness = new Stillness();
  const unhandled: unknown[] = [];
  const note = (cause: unknown) => unhandled.push(cause);
  let documents: Documents;
  let unline: () => void;

  beforeAll(async () => {
    documents = await simulatedDocuments();
    unline = stillness.lineUpSignatures();
    process.on('unhandledRejection', note);
  });

  afterAll(() => {
    unline();
    process.off('unhandledRejection', note);
  });

  async function run(seed: number): Promise<Tally> {
    try {
      return await new World(seed, documents, stillness).run(CALLS);
    } catch (cause) {
      const again = `SIMULATION_SEED=${seed} npx vitest run test/simulation`;
      throw new Error(`${cause instanceof Error ? cause.message : String(cause)}\nRun it again: ${again}`);
    }
  }

  it(`never leaves the zone, forwards without evidence, or loses an end, over ${RUNS * CALLS} calls`, async () => {
    const tallies: Tally[] = [];
    for (let seed = FIRST; seed < FIRST + RUNS; seed += 1) tallies.push(await run(seed));
    expect(unhandled).toEqual([]);
    if (SIMULATION_SEED !== undefined) return;
    const total = sum(tallies);
    expect(MET.filter((what) => total[what] === undefined)).toEqual([]);
  }, 600_000);
});
