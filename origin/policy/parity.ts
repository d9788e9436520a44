import { graphOf } from '../../shared/policy-rules.ts';
import type { Zone } from '../../shared/zones.ts';
import { type Endpoint, modelOf } from '../endpoints/endpoint.ts';
import type { LoadedPolicy } from './document.ts';
import { lastingRejection } from './standing.ts';

/** An endpoint that answers a workload with another model than the first of its graph. */
export interface Disparity {
  /** Of the endpoint, in the policy document. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/**
 * Where a failover would change the model: endpoints of one graph that may serve and whose dated models differ.
 * The ids are compared without what providers put around them.
 */
export const disparities = (
  policy: LoadedPolicy,
  registry: ReadonlyMap<string, Endpoint>,
  zone: Zone,
): readonly Disparity[] =>
  Object.entries(policy.document.workloads).flatMap(([workload, { failover }]) => {
    const [first, ...others] = graphOf(failover).flatMap(({ endpoint: id, path }) => {
      const endpoint = registry.get(id);
      const model = endpoint && modelOf(endpoint, workload);
      if (endpoint === undefined || model === undefined) return [];
      const everyone = { zone, policy, tenant: '', team: undefined };
      return lastingRejection(endpoint, workload, everyone) === undefined ? [{ id, model, path }] : [];
    });
    if (first === undefined) return [];
    return others
      .filter(({ model }) => datedModel(model) !== datedModel(first.model))
      .map(({ id, model, path }) => ({
        path: ['workloads', workload, 'failover', ...path],
        message: `${id} serves ${workload} with ${model}, ${first.id} with ${first.model}: a failover changes the model`,
      }));
  });

/** Path, ARN, geography and vendor in front: `…/models/`, `eu.`, `anthropic.`. */
const PREFIX = /^(?:.*\/)?(?:(?:us-gov|[a-z]{2,6})\.)?(?:[a-z][a-z0-9-]*\.)?(?=[a-z])/;
/** Bedrock's version of its packaging behind a date: `-v1:0`. Without a date it tells models apart, so it stays. */
const PACKAGING = /(?<=-\d{4,8})-v\d+(?::\d+(?::\d+k)?)?$/;
/** `2026-01-01`, `@20260101` (Vertex) and `-20260101` are one date. */
const DATE = /[-@](20\d{2})-?(\d{2})-?(\d{2})(?!\d)/;

/**
 * The model that an id stands for, whoever serves it: `eu.vendor.large-20260101-v1:0` and `large@20260101` are
 * the same. Azure's ids are names of deployments, so they have to be called after the dated model.
 */
export const datedModel = (id: string): string =>
  id.toLowerCase().replace(PREFIX, '').replace(PACKAGING, '').replace(DATE, '-$1$2$3');
