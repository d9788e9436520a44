import { type Cloud, cloudRegion, looksLikeCloudRegion } from '../../shared/catalogue.ts';
import { isZone } from '../../shared/zones.ts';
import type { Endpoint, ProviderName } from './endpoint.ts';
import type { Finding } from './finding.ts';
import { UNREADABLE_REGION } from './region-evidence.ts';

const CLOUD_OF: Readonly<Partial<Record<ProviderName, Cloud>>> = {
  bedrock: 'aws',
  'azure-openai': 'azure',
  vertex: 'gcp',
};

/**
 * What is wrong with the region that an entry gives, by itself and beside its provider and country.
 *
 * @param declared the country as the entry itself gives it
 */
export function checkRegion({ region, provider }: Endpoint, declared: string | undefined): Finding[] {
  if (region === undefined) return [];
  const known = cloudRegion(region);
  const cloud = CLOUD_OF[provider];
  if (known === undefined) {
    const message = unlisted(region, cloud, declared);
    return message === undefined ? [] : [{ path: ['region'], message }];
  }
  const findings: Finding[] = [];
  if (cloud !== undefined && known.cloud !== cloud) {
    findings.push({ path: ['region'], message: `${region} is a region of ${known.cloud}, not of ${cloud}` });
  }
  if (declared !== undefined && declared !== known.country) {
    const message = `${region} is ${known.city} in ${known.country}, not in ${declared}`;
    findings.push({ path: ['country'], message });
  }
  return findings;
}

/** Words in which an answer says no region: a label that is one of them would agree with every such answer. */
const isWordOfEvidence = (label: string): boolean =>
  label === 'global' || label === UNREADABLE_REGION || isZone(label);

/** What is wrong with a label that the catalogue does not have. */
function unlisted(label: string, cloud: Cloud | undefined, country: string | undefined): string | undefined {
  if (isWordOfEvidence(label))
    return `${label} is a word by which answers name no region: call the place by a name of its own`;
  const missing = `${label} is not in the catalogue of cloud regions`;
  if (cloud !== undefined) return `${missing}, and this provider runs in regions of ${cloud} alone`;
  if (looksLikeCloudRegion(label))
    return `${missing} but looks like one: call a facility of your own by another name`;
  return country === undefined ? `${missing}: for a facility of your own add "country:"` : undefined;
}
