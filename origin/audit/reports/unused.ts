import { countryOf } from '../../../shared/catalogue.ts';
import { type PolicyInForce, policyLabel } from '../../../shared/policy-in-force.ts';
import { countriesOf } from '../../../shared/policy-rules.ts';
import type { Evidence } from './evidence.ts';
import { endpointsOf } from './outside.ts';
import type { Use } from './usage.ts';

/** What a policy version allows and nobody used. */
export interface Unused {
  readonly kind: 'region' | 'country' | 'endpoint' | 'model';
  readonly name: string;
  /** `name@version`. */
  readonly policy: string;
}

/** What could be taken out of the policy versions of a bundle without anybody missing it in this window. */
export const unusedIn = (evidence: Evidence, uses: readonly Use[]): readonly Unused[] =>
  evidence.policies.flatMap((policy) => unusedOf(policy, evidence, uses));

function unusedOf(
  { document }: PolicyInForce,
  { declared }: Evidence,
  uses: readonly Use[],
): readonly Unused[] {
  const policy = policyLabel(document);
  const used = (kind: Use['kind']) =>
    new Set(uses.filter((use) => use.policy === policy && use.kind === kind).map(({ name }) => name));
  const [regions, endpoints, models] = [used('region'), used('endpoint'), used('model')];
  const countries = new Set(
    [...regions].map((region) => {
      const country = declared.get(region);
      return countryOf({ region, ...(country !== undefined && { country }) });
    }),
  );
  const named = new Set(
    Object.keys(document.workloads).flatMap((workload) => endpointsOf(document, workload)),
  );
  const missing = (kind: Unused['kind'], allowed: Iterable<string>, isUsed: (name: string) => boolean) =>
    [...allowed].filter((name) => !isUsed(name)).map((name) => ({ kind, name, policy }));
  return [
    ...missing('endpoint', named, (endpoint) => endpoints.has(endpoint)),
    ...missing('region', document.allow.regions ?? [], (region) => regions.has(region)),
    // A named set counts as used where one of its countries is.
    ...missing('country', document.allow.countries, (entry) =>
      [...countriesOf([entry])].some((country) => countries.has(country)),
    ),
    ...missing('model', document.allow.models ?? [], (model) => models.has(model)),
  ];
}
