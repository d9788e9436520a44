import type { Scale, Scenario, Subject, Values } from './scenario.ts';

export interface Rounds {
  readonly scale: Scale;
  /** Rounds that count. */
  readonly rounds: number;
  /** Rounds before them that do not: caches fill and code is compiled in them. */
  readonly warmUp: number;
  readonly folder: string;
}

/** The values of each subject, by its name, one entry for each round that counts. */
export type Measured = ReadonlyMap<string, readonly Values[]>;

/** Sets a scenario up and measures it. Rejects as its subjects do. */
export async function measure(scenario: Scenario, run: Rounds): Promise<Measured> {
  const stage = await scenario.stage(run.scale, run.folder);
  try {
    return await interleaved(stage.subjects, run);
  } finally {
    await stage.close?.();
  }
}

/**
 * Runs every subject once in each round, so that whatever slows the machine for a while slows all of them, and in
 * each round another one first.
 */
async function interleaved(subjects: readonly Subject[], { rounds, warmUp }: Rounds): Promise<Measured> {
  const measured = new Map<string, Values[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round < warmUp + rounds; round += 1) {
    for (const subject of rotated(subjects, round)) {
      const values = await subject.round();
      if (round >= warmUp) measured.get(subject.name)?.push(values);
    }
  }
  return measured;
}

const rotated = (subjects: readonly Subject[], by: number): readonly Subject[] => {
  const first = by % subjects.length;
  return [...subjects.slice(first), ...subjects.slice(0, first)];
};
