/** How long a piece of work took, in ms. */
export interface Span {
  /** On the wall. */
  readonly wall: number;
  /** That cores were busy in this process, whatever else the machine had to do. */
  readonly cpu: number;
}

export async function timed(work: () => unknown): Promise<Span> {
  const [cpuBefore, begun] = [process.cpuUsage(), performance.now()];
  await work();
  const wall = performance.now() - begun;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { wall, cpu: (user + system) / 1_000 };
}

export const perSecond = (count: number, ms: number): number => (count * 1_000) / ms;
