import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';

/** What the numbers depend on, and how busy it was with other things when the run began. */
export interface Machine {
  readonly cores: number;
  readonly cpu: string;
  readonly memory_gib: number;
  readonly node: string;
  readonly kernel: string;
  /** Mean number of running threads over the minute before; undisturbed it is well below the number of cores. */
  readonly load: number;
}

export const thisMachine = (): Machine => ({
  cores: availableParallelism(),
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  memory_gib: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  kernel: `${type()} ${release()}`,
  load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
});

export const machineLine = ({ cores, cpu, memory_gib, node, kernel, load }: Machine): string =>
  `${cores} cores (${cpu}), ${memory_gib} GiB, Node ${node}, ${kernel}, load ${load} at the start`;
