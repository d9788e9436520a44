import { Command } from 'commander';
import { MEND } from '../audit/reports/mend.ts';
import { type RefusalGroup, refusalsIn } from '../audit/reports/refusals.ts';
import { tableText } from './table.ts';
import { type BundleOptions, verifiedBundle, withBundleOptions } from './verified-bundle.ts';

interface RefusalsOptions extends BundleOptions {
  readonly json?: boolean;
}

/** `residency audit refusals`: the integrations to mend. */
export const refusalsCommand = (): Command =>
  withBundleOptions(new Command('refusals'))
    .description(
      'Groups the refused calls of a verified window by tenant and code, with what to mend. Exit 0 also where there are some: a refusal is no fault.',
    )
    .addHelpText('after', '\nExample:\n  residency audit refusals --zone eu --from -7d')
    .action(async (options: RefusalsOptions) => {
      const { evidence } = await verifiedBundle(options);
      const { log, jurisdiction, from, to } = evidence.manifest;
      const groups = refusalsIn(evidence.records());
      const refusals = groups.map((group) => ({ ...group, mend: MEND[group.code] }));
      process.stdout.write(
        options.json
          ? `${JSON.stringify({ log, jurisdiction, window: { from, to }, refusals })}\n`
          : `${log}, ${from} to ${to}, verified.\n\n${textOf(groups)}`,
      );
    });

function textOf(groups: readonly RefusalGroup[]): string {
  if (groups.length === 0) return 'Nothing was refused in this window.\n';
  const table = tableText(
    ['tenant', 'code', 'count', 'first', 'last', 'route', 'request ids'],
    groups.map(({ tenant, code, count, first, last, routes, request_ids }) => [
      ...[tenant ?? '(not named)', code, String(count), first, last],
      ...[routes.join(', ') || '-', request_ids.join(', ')],
    ]),
  );
  const codes = [...new Set(groups.map(({ code }) => code))];
  return `${table}\nTo mend:\n${codes.map((code) => `  ${code}: ${MEND[code]}\n`).join('')}`;
}
