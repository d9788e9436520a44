import { Command } from 'commander';
import { countryOf } from '../../shared/catalogue.ts';
import { type Unused, unusedIn } from '../audit/reports/unused.ts';
import { USE_KINDS, type Use, type UseKind, usesIn } from '../audit/reports/usage.ts';
import { tableText } from './table.ts';
import {
  type BundleOptions,
  type VerifiedBundle,
  verifiedBundle,
  withBundleOptions,
} from './verified-bundle.ts';

/** Exit code: something ran where, or on what, its policy does not allow. */
const OUTSIDE = 1;

interface DiffOptions extends BundleOptions {
  readonly json?: boolean;
}

/** `residency audit diff`: what was used, against the policy versions in force at the time. */
export const diffCommand = (): Command =>
  withBundleOptions(new Command('diff'))
    .description(
      'Holds the regions, endpoints and models of a verified window against the policy version that each record cites, and names each that is not in it with its first request and whom to ask; then what is allowed and was never used. Exit 1 if anything is outside.',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  residency audit diff --zone eu --from -90d\n  residency audit diff --bundle q1.tar.gz --pubkey eu.jwks.json',
    )
    .action(async (options: DiffOptions) => {
      const bundle = await verifiedBundle(options);
      const uses = usesIn(bundle.evidence);
      const unused = unusedIn(bundle.evidence, uses);
      if (uses.some(({ outside }) => outside !== null)) process.exitCode = OUTSIDE;
      process.stdout.write(
        options.json ? `${JSON.stringify(jsonOf(bundle, uses, unused))}\n` : textOf(bundle, uses, unused),
      );
    });

const placeOf = ({ evidence: { declared } }: VerifiedBundle, region: string): string | undefined => {
  const country = declared.get(region);
  return countryOf({ region, ...(country !== undefined && { country }) });
};

function jsonOf(bundle: VerifiedBundle, uses: readonly Use[], unused: readonly Unused[]): object {
  const { log, jurisdiction, from, to } = bundle.evidence.manifest;
  const shown = uses.map((use) =>
    use.kind === 'region' ? { ...use, country: placeOf(bundle, use.name) ?? null } : use,
  );
  const of = (kind: UseKind) => shown.filter((use) => use.kind === kind);
  return {
    ok: uses.every(({ outside }) => outside === null),
    ...{ log, jurisdiction, window: { from, to } },
    ...{ regions: of('region'), endpoints: of('endpoint'), models: of('model') },
    outside: shown.filter(({ outside }) => outside !== null),
    unused,
  };
}

function textOf(bundle: VerifiedBundle, uses: readonly Use[], unused: readonly Unused[]): string {
  const { log, from, to } = bundle.evidence.manifest;
  const outside = uses.filter((use) => use.outside !== null);
  const parts = [
    `${log}, ${from} to ${to}, verified.\n`,
    ...(uses.length === 0
      ? ['Nothing was forwarded in this window.\n']
      : USE_KINDS.map((kind) => usesText(bundle, kind, uses))),
    outside.length === 0
      ? 'Everything that was used is in the policy version of its time.\n'
      : `OUTSIDE THE POLICY:\n${outside.map(outsideText).join('')}`,
    ...(unused.length === 0 ? [] : [`Allowed and never used:\n${unusedText(unused)}`]),
  ];
  return parts.join('\n');
}

function usesText(bundle: VerifiedBundle, kind: UseKind, uses: readonly Use[]): string {
  const rows = uses.filter((use) => use.kind === kind);
  if (rows.length === 0) return `No ${kind} was used.\n`;
  return tableText(
    [kind, 'attempts', 'first', 'last', 'policy', 'in it'],
    rows.map((use) => [
      use.kind === 'region' ? `${use.name} (${placeOf(bundle, use.name) ?? 'country unknown'})` : use.name,
      String(use.count),
      ...[use.first.at, use.last.at, use.policy ?? '-', use.outside === null ? 'yes' : 'NO'],
    ]),
  );
}

const outsideText = ({ kind, name, outside, first, count, endpoints, owners }: Use): string =>
  [
    `  ${kind} ${name}: ${outside ?? ''}`,
    `    first request ${first.request_id ?? 'none, a probe'}${first.tenant === null ? '' : ` of ${first.tenant}`}, ${first.at}; ${count} in all, at ${endpoints.join(', ')}`,
    `    ask ${owners.length === 0 ? 'whoever owns the endpoint' : owners.join(' or ')}\n`,
  ].join('\n');

const unusedText = (unused: readonly Unused[]): string =>
  unused.map(({ kind, name, policy }) => `  ${kind} ${name} (${policy})\n`).join('');
