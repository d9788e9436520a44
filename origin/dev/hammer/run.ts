import { randomBytes, randomInt } from 'node:crypto';
import { KINDS, type Kind, type Made, make } from './calls.ts';
import { CheckpointWatch } from './checkpoints.ts';
import { Evidence } from './evidence.ts';
import { Tally } from './tally.ts';
import type { Target } from './target.ts';

export interface HammerOptions {
  /** Callers at once. */
  readonly clients: number;
  /** Whether to go on, asked before each call. */
  readonly goOn: (calls: number) => boolean;
  /** How often the evidence of a call is asked for until it is complete, half a second apart; 20 by default. */
  readonly tries?: number;
}

/** After so many calls a client looks at the evidence of one of them while the others go on. */
const CALLS_A_PROOF = 10;

/** How often the published checkpoint is looked at, in ms. */
const LOOK_MS = 250;

/** Calls whose evidence is looked at in the end: the newest, and of the others as many by chance. */
const LAST_CHECKED = 250;

/** Calls that are remembered, at most. */
const REMEMBERED = 20_000;

const kinds = Object.keys(KINDS).filter((name): name is Kind => Object.hasOwn(KINDS, name));

/** Calls a zone from several sides at once, and checks all that it gives as evidence while more is written. */
export async function hammer(target: Target, { clients, goOn, tries }: HammerOptions): Promise<Tally> {
  const tally = new Tally();
  const evidence = new Evidence(target, tally, tries);
  const watch = new CheckpointWatch(target, tally);
  const run = randomBytes(4).toString('hex');
  const made: Made[] = [];
  let begun = 0;

  const client = async () => {
    for (let calls = 1; goOn(begun); calls += 1) {
      begun += 1;
      const kind = kinds[begun % kinds.length] ?? 'chat';
      const one = await make(target, kind, `hammer-${run}-${begun}`).catch((cause: Error) => cause);
      if (one instanceof Error) {
        tally.fault(`a call had no answer (${one.name})`);
        continue;
      }
      made.push(one);
      if (made.length > REMEMBERED) made.splice(0, REMEMBERED / 2);
      tally.call(one);
      evidence.checkReceipt(one);
      const earlier = made[randomInt(made.length)];
      if (calls % CALLS_A_PROOF === 0 && earlier !== undefined) await evidence.checkCall(earlier);
    }
  };
  let over = false;
  const looking = (async () => {
    while (!over) {
      await watch.look();
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  })();
  await Promise.all(Array.from({ length: clients }, client));
  await (await target.askAdmin('/admin/checkpoints', 'POST')).arrayBuffer();
  over = true;
  await looking;
  await watch.look();
  await checkLast(made, evidence, clients);
  return tally;
}

async function checkLast(made: readonly Made[], evidence: Evidence, clients: number): Promise<void> {
  const newest = made.slice(-LAST_CHECKED);
  const others = made.slice(0, -LAST_CHECKED);
  const chosen = Array.from(
    { length: Math.min(LAST_CHECKED, others.length) },
    () => others[randomInt(others.length)],
  );
  const waiting = [...newest, ...chosen.filter((one) => one !== undefined)];
  const worker = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await evidence.checkCall(next);
  };
  await Promise.all(Array.from({ length: clients }, worker));
}
