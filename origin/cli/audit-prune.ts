import { setTimeout } from 'node:timers/promises';
import { Command } from 'commander';
import { type PruneView, pruneViewSchema } from '../control/retention-view.ts';
import type { OriginAddress } from '../control/stack-file.ts';
import { type AdminOptions, askAdmin, oneOrigin, withAdminOptions } from './admin-client.ts';
import { loggedIn } from './logged-in.ts';
import { tableText } from './table.ts';

/** How often it is asked how far a run is, in ms. */
const ASK_MS = 500;

interface PruneOptions extends AdminOptions {
  readonly why: string;
  readonly by?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** `residency audit prune`: drops the bodies of records whose time is over. */
export const pruneCommand = (): Command =>
  withAdminOptions(new Command('prune'))
    .description(
      'Drops the bodies of records that have been kept as long as their policy asks. Their hashes stay, so that proofs made before still hold. What is under a hold stays whole. A run that breaks off is taken up by the next.',
    )
    .requiredOption('--why <text>', 'the reason; it goes on record')
    .option('--by <name>', 'who gives the order; without it the name you are logged in with')
    .option('--dry-run', 'only show what would go')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  residency audit prune --zone eu --why "yearly, ticket 4711" --dry-run',
    )
    .action(async (options: PruneOptions) => {
      const view = await run(await oneOrigin(options), options);
      if (view.state !== 'done') process.exitCode = 1;
      process.stdout.write(options.json ? `${JSON.stringify(view)}\n` : textOf(view));
    });

async function run(origin: OriginAddress, { by, why, dryRun = false }: PruneOptions): Promise<PruneView> {
  const order = { by: by ?? loggedIn(), why, dry_run: dryRun, now: new Date().toISOString() };
  let view = await askAdmin(origin, '/admin/prune', pruneViewSchema, order);
  const { id } = view;
  while (view.state === 'running') {
    await setTimeout(ASK_MS);
    process.stderr.write(`looked at ${view.looked_at} of ${view.of} records\n`);
    view = await askAdmin(origin, '/admin/prune', pruneViewSchema);
    if (view.id !== id) throw new Error('the origin was started anew meanwhile: run this again');
  }
  return view;
}

const REASONS: Readonly<Record<PruneView['kept'][number]['reason'], string>> = {
  hold: 'under a hold, with the other records of their calls',
  call: 'of calls of which a younger record stays, or that have no end',
  quarantine: 'evidence that holds an endpoint in quarantine',
  unreadable: 'not of the form of a record; "residency audit fsck" says more',
};

const BASIS: Readonly<Record<PruneView['rules'][number]['basis'], string>> = {
  cited: 'cited by the records',
  in_force: 'in force now, longer than the one cited',
  longest: 'longest of all, for records under no policy',
};

function textOf({ state, dry_run, rules, kept, fault }: PruneView): string {
  const rows = rules.map((rule) => [
    ...[rule.policy, String(rule.days), String(rule.records), rule.oldest, rule.newest],
    BASIS[rule.basis],
  ]);
  const head = ['policy', 'days', 'records', 'oldest', 'newest', 'row'];
  const count = rules.reduce((sum, { records }) => sum + records, 0);
  return [
    ...(rows.length === 0 ? [] : [tableText(head, rows)]),
    `${count} records ${dry_run ? 'would be' : 'were'} pruned.`,
    ...kept.map(({ reason, records }) => `${records} stay although their time is over: ${REASONS[reason]}.`),
    ...(state === 'done' ? [] : [`It ended before its time (${fault ?? state}). Run it again to go on.`]),
    '',
  ].join('\n');
}
