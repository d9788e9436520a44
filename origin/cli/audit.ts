import { Command } from 'commander';
import { diffCommand } from './audit-diff.ts';
import { exportCommand } from './audit-export.ts';
import { fsckCommand } from './audit-fsck.ts';
import { holdCommand } from './audit-hold.ts';
import { pendingCommand } from './audit-pending.ts';
import { pruneCommand } from './audit-prune.ts';
import { refusalsCommand } from './audit-refusals.ts';
import { streamCommand } from './audit-stream.ts';
import { tailCommand } from './audit-tail.ts';

/** `residency audit`: the log of a zone, through its admin address. */
export const command = (): Command =>
  new Command('audit')
    .addCommand(tailCommand())
    .addCommand(exportCommand())
    .addCommand(diffCommand())
    .addCommand(refusalsCommand())
    .addCommand(pendingCommand())
    .addCommand(streamCommand())
    .addCommand(holdCommand())
    .addCommand(pruneCommand())
    .addCommand(fsckCommand());
