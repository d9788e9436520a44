import type { Zone } from '../../shared/zones.ts';
import type { Endpoint } from './endpoint.ts';

/**
 * Geographic prefixes of Bedrock's inference profiles. The prefix alone lets the provider choose among the
 * regions of that geography, whatever the host name says. `undefined`: the geography is larger than any zone.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html
 */
const GEOGRAPHIES: ReadonlyMap<string, Zone | undefined> = new Map<string, Zone | undefined>([
  ['eu', 'eu'],
  ['us', 'us'],
  ['us-gov', 'us'],
  ['jp', 'jp'],
  ['au', 'au'],
  ['ca', 'ca'],
  ['apac', undefined],
  ['amer', undefined],
]);

/** `arn:aws:bedrock:REGION:ACCOUNT:KIND/ID` */
const ARN = /^arn:[a-z-]+:bedrock:([a-z0-9-]*):\d*:([a-z-]+)\/(.+)$/;

/** What is wrong with a Bedrock model id at an endpoint, in words; nothing where it stays in the region. */
export function checkBedrockModel(id: string, endpoint: Endpoint): readonly string[] {
  const model = id.toLowerCase();
  if (!model.startsWith('arn:')) return checkPrefix(model, endpoint);
  const arn = ARN.exec(model);
  if (arn === null) return ['is an ARN that is not of a Bedrock model or profile'];
  const [, region, kind = '', own = ''] = arn;
  if (region !== '' && region !== endpoint.region) {
    return [`is of ${region}, the entry says ${endpoint.region ?? 'no region'}: make them agree`];
  }
  if (kind === 'application-inference-profile') {
    return ['is an application profile, whose id hides where it routes: name the model or a system profile'];
  }
  return checkPrefix(own, endpoint);
}

function checkPrefix(model: string, { deployment, zone }: Endpoint): readonly string[] {
  const prefix = /^([a-z-]+)\./.exec(model)?.[1] ?? '';
  if (prefix === 'global') {
    return deployment === 'global'
      ? []
      : ['"global." routes to the whole world: no zone can be kept with it'];
  }
  if (!GEOGRAPHIES.has(prefix)) return [];
  const geography = GEOGRAPHIES.get(prefix);
  if (geography === undefined)
    return [`"${prefix}." routes across several zones: no zone can be kept with it`];
  if (geography !== zone)
    return [`"${prefix}." routes inside ${geography}, the endpoint is in ${zone ?? 'no zone'}`];
  if (deployment !== 'zone')
    return [`"${prefix}." routes across the regions of ${geography}: declare "deployment: zone"`];
  return [];
}
