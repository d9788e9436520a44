import { setTimeout } from 'node:timers/promises';
import { type BenchOrigin, type Evidence, NO_EVIDENCE, startBenchOrigin } from '../bench-origin.ts';
import { Callers } from '../callers.ts';
import type { ByScale, Scenario, Subject } from '../scenario.ts';
import { percentile } from '../summary.ts';
import { type BenchZone, benchZone } from '../zone-config.ts';

/** Calls on one connection, and four times as many on several. */
const CALLS: ByScale = { tiny: 4, quick: 250, full: 500 };
const SEVERAL = 32;

/** Records of an answered call: `pending`, `served`, `completed`. */
const RECORDS_A_CALL = 3;
/** Longest wait for the last of them, in ms. */
const SETTLE_MS = 5_000;

interface Run {
  readonly origin: BenchOrigin;
  readonly callers: Callers;
  readonly zone: BenchZone;
  readonly recordsACall: number;
}

/** Waits until the log has so many records more, so that the next round begins with a quiet one. */
async function settled({ origin }: Run, records: number): Promise<void> {
  for (const until = performance.now() + SETTLE_MS; (await origin.records()) !== records; ) {
    if (performance.now() > until) throw new Error('the log does not hold what the calls should have left');
    await setTimeout(5);
  }
}

async function round(run: Run, calls: number) {
  const { callers, origin, zone, recordsACall } = run;
  const before = await origin.records();
  const alone = await callers.run(calls, 1);
  await settled(run, before + calls * recordsACall);
  const many = 4 * calls;
  const together = await callers.run(many, SEVERAL);
  await settled(run, before + (calls + many) * recordsACall);
  zone.provider.reset();
  return {
    'one caller, p50': percentile(alone.each, 0.5) * 1_000,
    [`${SEVERAL} callers`]: (together.all.wall * 1_000) / many,
    [`CPU, ${SEVERAL} callers`]: (together.all.cpu * 1_000) / many,
  };
}

async function start(zone: BenchZone, log: string, recordsACall: number, evidence?: Evidence): Promise<Run> {
  const origin = await startBenchOrigin(zone.config(log), evidence);
  return { origin, callers: new Callers(zone, origin.url), zone, recordsACall };
}

export const evidenceCost: Scenario = {
  name: 'evidence-cost',
  measures:
    'time of a call whose records are durable and whose receipt is signed, beside the same path without',
  figures: ['one caller, p50', `${SEVERAL} callers`, `CPU, ${SEVERAL} callers`].map((name) => ({
    name,
    unit: 'µs a call',
  })),
  stage: async (scale, folder) => {
    const zone = await benchZone(folder);
    const without = await start(zone, 'without', 0, NO_EVIDENCE);
    const whole = await start(zone, 'with', RECORDS_A_CALL);
    const subject = (name: string, run: Run): Subject => ({ name, round: () => round(run, CALLS[scale]) });
    return {
      subjects: [subject('without evidence', without), subject('with log and receipt', whole)],
      close: async () => {
        for (const { callers, origin } of [without, whole]) {
          await callers.close();
          await origin.close();
        }
        await zone.provider.close();
      },
    };
  },
};
