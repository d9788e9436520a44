import { cloudRegion } from '../../shared/catalogue.ts';
import type { Zone } from '../../shared/zones.ts';
import type { Endpoint } from './endpoint.ts';

/**
 * Vendors of Bedrock's models, with which an id of a model begins that stays in its region; to add one, add its
 * name. `vendor` is the one of examples. https://docs.aws.amazon.com/bedrock/latest/userguide/models-supported.html
 */
const VENDORS: ReadonlySet<string> = new Set([
  ...['ai21', 'amazon', 'anthropic', 'cohere', 'deepseek', 'google', 'luma', 'meta', 'minimax', 'mistral'],
  ...['moonshot', 'moonshotai', 'nvidia', 'openai', 'qwen', 'stability', 'twelvelabs', 'vendor', 'writer'],
  'zai',
]);

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

/** `anthropic.claude-x-v1:0`, `eu.anthropic.claude-x-v1:0` */
const FORM = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::[a-z0-9-]+){0,2}$/;

/** `arn:aws:bedrock:REGION:ACCOUNT:KIND/ID` */
const ARN = /^arn:[a-z-]+:bedrock:([a-z0-9-]*):\d*:([a-z-]+)\/(.+)$/;

/** Kinds of ARNs whose id is a model's or a system profile's, and kinds that stay in the region of the ARN. */
const NAMED_KINDS: ReadonlySet<string> = new Set(['foundation-model', 'inference-profile']);
const LOCAL_KINDS: ReadonlySet<string> = new Set([
  'provisioned-model',
  'custom-model',
  'custom-model-deployment',
  'imported-model',
]);

const HOST = /(?:^|\.)(?:amazonaws\.(?:com|eu|com\.cn)|api\.aws)$/;

/** What is wrong with a model id where it may be one of Bedrock's, in words; nothing where it stays in the region. */
export function checkModelId(id: string, endpoint: Endpoint): readonly string[] {
  const model = decoded(id).toLowerCase();
  const arn = model.indexOf('arn:');
  if (arn !== -1) return checkArn(model.slice(arn), endpoint);
  if (endpoint.provider === 'bedrock' || HOST.test(endpoint.baseUrl.hostname))
    return checkName(model, endpoint);
  return checkRelayed(model, endpoint);
}

/** Engines undo percent signs where an id stands in their own paths. */
function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

function checkArn(model: string, endpoint: Endpoint): readonly string[] {
  const arn = ARN.exec(model);
  if (arn === null) return ['is an ARN that is not of a Bedrock model or profile'];
  const [, region = '', kind = '', own = ''] = arn;
  if (region !== endpoint.region) {
    const says = endpoint.region ?? 'no region';
    return [`is of ${region || 'no region'}, the entry says ${says}: make them agree`];
  }
  if (LOCAL_KINDS.has(kind)) return [];
  if (NAMED_KINDS.has(kind)) return checkName(own, endpoint);
  return [`is of the kind ${kind}, whose id hides where it routes: name the model or a system profile`];
}

/** Other gateways take Bedrock's ids too, behind names of their own: `bedrock/us-east-1/us.anthropic.claude-x`. */
function checkRelayed(model: string, endpoint: Endpoint): readonly string[] {
  const parts = model.split('/');
  const elsewhere = parts.find((part) => cloudRegion(part) !== undefined && part !== endpoint.region);
  if (elsewhere !== undefined) {
    return [`names ${elsewhere}, the entry says ${endpoint.region ?? 'no region'}: make them agree`];
  }
  const name = parts.at(-1) ?? '';
  const [, second = ''] = name.split('.');
  return VENDORS.has(second) ? checkName(name, endpoint) : [];
}

function checkName(model: string, { deployment, zone }: Endpoint): readonly string[] {
  if (!FORM.test(model))
    return ['is not of the form vendor.model, so that it is not known where it routes: name the model'];
  const [first = '', second = ''] = model.split('.');
  if (VENDORS.has(first)) return [];
  const bare = `write "${model.slice(first.length + 1)}" to stay in the region`;
  if (first === 'global') {
    return deployment === 'global'
      ? []
      : [`"global." routes to the whole world: no zone can be kept with it; ${bare}`];
  }
  if (!GEOGRAPHIES.has(first) || !VENDORS.has(second)) {
    return [
      `"${first}." is neither a known vendor nor a geography before one: it is not known where it routes`,
    ];
  }
  const geography = GEOGRAPHIES.get(first);
  if (geography === undefined)
    return [`"${first}." routes across several zones: no zone can be kept with it; ${bare}`];
  if (geography !== zone)
    return [`"${first}." routes inside ${geography}, the endpoint is in ${zone ?? 'no zone'}: ${bare}`];
  if (deployment !== 'zone')
    return [`"${first}." routes across the regions of ${geography}: declare "deployment: zone", or ${bare}`];
  return [];
}
