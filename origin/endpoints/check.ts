import type { Zone } from '../../shared/zones.ts';
import { checkModelId } from './bedrock-models.ts';
import { checkHost } from './check-host.ts';
import { checkRegion } from './check-region.ts';
import type { Endpoint } from './endpoint.ts';
import type { Finding } from './finding.ts';

/**
 * Everything in which an entry contradicts itself about where it is. An entry without any region or country
 * passes: it is no candidate for anyone. So does one that is in another zone: the graphs that name it are told.
 *
 * @param declaredCountry the country as the entry itself gives it
 */
export const checkEndpoint = (
  endpoint: Endpoint,
  declaredCountry: string | undefined,
  zone: Zone,
): readonly Finding[] => [
  ...checkRegion(endpoint, declaredCountry),
  ...checkHost(endpoint, zone),
  ...models(endpoint),
];

const models = (endpoint: Endpoint): readonly Finding[] =>
  Object.entries(endpoint.models).flatMap(([workload, model]) =>
    checkModelId(model, endpoint).map((message) => ({ path: ['models', workload], message })),
  );
