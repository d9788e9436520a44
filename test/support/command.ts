import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type StackFile, writeStack } from '../../origin/control/stack-file.ts';
import { ADMIN_TOKEN, type TestZone } from './zone.ts';

const CLI = fileURLToPath(new URL('../../origin/cli/residency.ts', import.meta.url));
const run = promisify(execFile);

/** What a command gave. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder in which the command finds its way to these origins as to those of a local stack. */
export interface CommandFolder {
  readonly path: string;
  /** The command as a person types it, in this folder. */
  residency(...args: string[]): Promise<Ran>;
  /** The same, begun and not waited for. */
  begin(...args: string[]): ChildProcess;
  /** Says anew where the origins are, as after a restart. */
  pointTo(zones: Zones): Promise<void>;
  remove(): Promise<void>;
}

type Zones = Readonly<Record<string, TestZone>>;

/** @param tenants of the stack, and the zone of each */
export async function commandFolder(
  zones: Zones,
  tenants: Readonly<Record<string, string>> = {},
): Promise<CommandFolder> {
  const path = await mkdtemp(join(tmpdir(), 'residency-command-'));
  const listed = Object.entries(tenants).map(([id, jurisdiction]) => ({ id, jurisdiction }));
  await point(path, zones, listed);
  return {
    path,
    residency: (...args) =>
      run(process.execPath, [CLI, ...args, '--data', path], { cwd: path, maxBuffer: 64 * 1024 * 1024 }).then(
        ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
        ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
      ),
    begin: (...args) =>
      spawn(process.execPath, [CLI, ...args, '--data', path], { cwd: path, stdio: 'ignore' }),
    pointTo: (others) => point(path, others, listed),
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

async function point(path: string, zones: Zones, tenants: StackFile['tenants']): Promise<void> {
  const origins = Object.fromEntries(
    Object.entries(zones).map(
      ([
        zone,
        {
          origin: { url, admin },
        },
      ]) => [zone, { url, admin, admin_token: ADMIN_TOKEN }],
    ),
  );
  await writeStack(path, { edge: 'http://127.0.0.1:9', origins, tenants, providers: {} });
}
