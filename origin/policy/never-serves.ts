import { graphOf } from '../../shared/policy-rules.ts';
import type { Zone } from '../../shared/zones.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { LoadedPolicy } from './document.ts';
import { lastingRejection } from './standing.ts';

/**
 * Why no policy ever lets an endpoint serve, in words; undefined where one does. Tenants' exceptions and teams'
 * locks are not asked: they only take away.
 */
export function neverServes(
  endpoint: Endpoint,
  policies: Iterable<LoadedPolicy>,
  zone: Zone,
): string | undefined {
  const rejections: string[] = [];
  for (const policy of policies) {
    for (const [workload, { failover }] of Object.entries(policy.document.workloads)) {
      if (!graphOf(failover).some((step) => step.endpoint === endpoint.id)) continue;
      const everyone = { zone, policy, tenant: '', team: undefined };
      const rejected = lastingRejection(endpoint, workload, everyone);
      if (rejected === undefined) return undefined;
      rejections.push(rejected.words);
    }
  }
  return rejections[0] ?? 'no policy names it in a failover';
}
