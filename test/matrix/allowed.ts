import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { packFile } from '../../origin/config/pack-files.ts';
import type { Endpoint } from '../../origin/endpoints/endpoint.ts';
import { PACK_NAMES } from '../../shared/policy.ts';
import { COUNTRY_SETS, ZONE_COUNTRIES, type Zone } from '../../shared/zones.ts';

/**
 * A second reading of the same documents, which shares no rule with the program: an endpoint is the set of
 * countries in which a call to it may run, and it is allowed if that set lies inside every set that binds it.
 */

/** Where the regions of these documents really stand. */
const COUNTRY: Readonly<Record<string, string>> = {
  'eu-central-1': 'DE',
  'europe-west3': 'DE',
  'eu-west-1': 'IE',
  'eu-north-1': 'SE',
  'europe-west2': 'GB',
  'eu-west-2': 'GB',
  uksouth: 'GB',
  'eu-central-2': 'CH',
  switzerlandnorth: 'CH',
  'us-east-1': 'US',
  'us-east-2': 'US',
  'us-west-2': 'US',
  'ap-southeast-2': 'AU',
  'ap-southeast-4': 'AU',
  'ap-northeast-1': 'JP',
  'ap-northeast-3': 'JP',
};

const list = z.array(z.string()).optional();
const limits = z.object({
  countries: list,
  regions: list,
  deployments: list,
  models: list,
  region_evidence: z.string().optional(),
});
type Limits = z.infer<typeof limits>;

const written = z.object({
  policy: z.string(),
  packs: z.array(z.enum(PACK_NAMES)).default([]),
  allow: limits,
  workloads: z.record(
    z.string(),
    z.object({
      pinned: z.boolean().default(true),
      failover: z.object({ primary: z.string(), secondary: list, last_resort: z.string().optional() }),
    }),
  ),
  tenants: z.record(z.string(), z.object({ allow: limits.optional(), workloads: list })).default({}),
});
export type Written = z.infer<typeof written>;

/** The policy documents that an origin's file names, as they are written. */
export function writtenPolicies(originFile: string): readonly Written[] {
  const { policies } = z.object({ policies: z.array(z.string()) }).parse(read(originFile));
  return policies.map((file) => written.parse(read(resolve(originFile, '..', file))));
}

const read = (file: string): unknown => parse(readFileSync(file, 'utf8'));

const packLimits = (policy: Written): readonly Limits[] =>
  policy.packs.map((name) => z.object({ allow: limits.default({}) }).parse(read(packFile(name))).allow);

export interface Caller {
  readonly tenant: string;
  readonly team?: { readonly allowed_regions?: readonly string[]; readonly workloads?: readonly string[] };
}

/** The endpoints that may ever serve a workload to a caller over an API, in the order of the graph. */
export function allowedIds(
  policy: Written,
  zone: Zone,
  workload: string,
  { tenant, team }: Caller,
  endpoints: readonly Endpoint[],
): readonly string[] {
  const exception = policy.tenants[tenant];
  const { pinned = true, failover } = policy.workloads[workload] ?? {};
  if (failover === undefined) return [];
  if ([exception?.workloads, team?.workloads].some((names) => names && !names.includes(workload))) return [];
  const graph = [failover.primary, ...(failover.secondary ?? []), failover.last_resort];
  const general = [{ deployments: ['regional'], ...policy.allow }, ...packLimits(policy)];
  const special = [exception?.allow ?? {}];
  return graph
    .flatMap((id) => endpoints.find((one) => one.id === id) ?? [])
    .flatMap((endpoint) => {
      const free = !pinned && endpoint.deployment !== 'regional';
      const inside =
        free && endpoint.deployment === 'global' ? true : within(reach(endpoint), ZONE_COUNTRIES[zone]);
      const lock = team?.allowed_regions;
      const ok =
        inside &&
        endpoint.models[workload] !== undefined &&
        [...(free ? [] : general), ...special].every((one) => placed(endpoint, one)) &&
        [...general, ...special].every((one) => approved(endpoint, workload, one)) &&
        (lock === undefined || (endpoint.deployment === 'regional' && lock.includes(endpoint.region ?? '')));
      return ok ? [endpoint.id] : [];
    });
}

const WORLD = ['anywhere'];

/** The countries in which a call to an endpoint may run. */
function reach({ region = '', country: declared, deployment }: Endpoint): readonly string[] {
  const country = COUNTRY[region] ?? declared;
  if (country === undefined || deployment === 'global') return WORLD;
  const zones: readonly (readonly string[])[] = Object.values(ZONE_COUNTRIES);
  return deployment === 'regional' ? [country] : (zones.find((zone) => zone.includes(country)) ?? WORLD);
}

const within = (countries: readonly string[], limit: readonly string[]): boolean =>
  countries.every((country) => limit.includes(country));

function placed(endpoint: Endpoint, { countries, regions, deployments }: Limits): boolean {
  const named = countries?.flatMap((name): readonly string[] =>
    name === 'EEA' || name === 'EU' ? COUNTRY_SETS[name] : [name],
  );
  if (named && !within(reach(endpoint), named)) return false;
  if (deployments && !deployments.includes(endpoint.deployment)) return false;
  return !regions?.length || (endpoint.deployment === 'regional' && regions.includes(endpoint.region ?? ''));
}

/** Of the endpoints of these documents, those with a header of their own can show their region, others declare it. */
function approved(endpoint: Endpoint, workload: string, { models, region_evidence: grade }: Limits): boolean {
  if (models?.length && !models.includes(endpoint.models[workload] ?? '')) return false;
  return grade === undefined || grade === 'declared' || endpoint.regionHeader !== undefined;
}
