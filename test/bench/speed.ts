import type { Figure, Subject } from './scenario.ts';
import { perSecond, timed } from './stopwatch.ts';

/** Figures of work that keeps one core busy. By its CPU time it can be judged on a machine that is not quiet. */
export const speedFigures = (things: string): readonly Figure[] => [
  { name: 'speed', unit: `${things}/s` },
  { name: 'by CPU time', unit: `${things}/s` },
];

/** Work that goes through so many things in a round. */
export const speedOf = (name: string, count: number, work: () => void): Subject => ({
  name,
  round: async () => {
    const { wall, cpu } = await timed(work);
    return { speed: perSecond(count, wall), 'by CPU time': perSecond(count, cpu) };
  },
});
