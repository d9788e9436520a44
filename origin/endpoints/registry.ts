import { z } from 'zod';
import { cloudRegion, regionName } from '../../shared/catalogue.ts';
import { DEPLOYMENTS, endpointId, workloadName } from '../../shared/policy.ts';
import { zoneOfCountry } from '../../shared/zones.ts';
import { type Endpoint, PROVIDER_NAMES } from './endpoint.ts';
import { providerOf } from './provider.ts';
import type { Secret } from './secret.ts';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Whether a host name or address means this machine itself. */
export const isLoopback = (hostname: string): boolean => LOOPBACK.test(hostname);

/** No message repeats the URL: somebody may have put a key into it. */
const baseUrl = z.string().transform((text, context) => {
  const refuse = (message: string) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return refuse('is not an https URL');
  if (url.username !== '' || url.password !== '') {
    return refuse('holds a user name or password: name an environment variable in credential_env instead');
  }
  if (url.search !== '' || url.hash !== '') return refuse('has a query or fragment: leave it out');
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return refuse('is http, which only a loopback host may be: use https');
  }
  // `host.` is the same host, but would slip past every rule about host names.
  url.hostname = url.hostname.replace(/\.+$/, '');
  return url;
});

const region = z.string().transform((text, context) => {
  const name = regionName(text);
  if (name !== undefined) return name;
  context.addIssue({ code: 'custom', message: 'is not a region name' });
  return z.NEVER;
});

/** Name of an environment variable. Strict, so that a secret put here by mistake is neither taken nor echoed. */
export const environmentName = z
  .string()
  .regex(
    /^[A-Z][A-Z0-9_]{0,63}$/,
    'must be the name of an environment variable (capitals, digits, _), never the secret itself',
  );

/** Members of a path into an answer's JSON at most: a provider's own go two deep. */
const PATH_MEMBERS = 4;

const MEMBER = '[A-Za-z_][A-Za-z0-9_-]{0,63}';

const regionBody = z.string().regex(new RegExp(`^${MEMBER}(?:\\.${MEMBER}){0,${PATH_MEMBERS - 1}}$`), {
  error: `must be the path of a JSON member such as usage.region, ${PATH_MEMBERS} members at most`,
});

const REGION_BODY =
  'Path of the member of its JSON answers in which an engine says where it ran, read beside those that its provider has. Plain answers are held back until it is known, and one that cannot be read for it counts as from a wrong place. Never one in which the engine repeats what its caller sent.';

const REGION =
  "A cloud's own name of the region, or a name of your own together with country. It decides the zone by the catalogue, never by its letters: eu-west-2 is London. Left out where the host serves a whole zone.";

const DEPLOYMENT =
  'regional: it runs in its region alone. zone: anywhere in its zone that the provider likes. global: anywhere in the world.';

/** One entry of the registry, as it is written. */
export const endpointEntrySchema = z.strictObject({
  id: endpointId.describe('Name of the endpoint in failovers, records and receipts.'),
  provider: z
    .enum(PROVIDER_NAMES)
    .describe('Whose API and credential it takes, and where it says that it ran.'),
  region: region.exactOptional().describe(REGION),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, 'must be an ISO 3166 code such as DE')
    .exactOptional()
    .describe('For a region of your own: the country it stands in. One of a cloud has it in the catalogue.'),
  facility: z
    .string()
    .regex(/^[\p{L}\p{N}\p{P}\p{Zs}]{1,128}$/u, 'must be 1 to 128 printable characters')
    .exactOptional()
    .describe('The place in words, for the receipt.'),
  deployment: z.enum(DEPLOYMENTS).describe(DEPLOYMENT),
  base_url: baseUrl.describe('https, without user name, query or fragment; http on loopback only.'),
  credential_env: environmentName
    .exactOptional()
    .describe('Name of the environment variable that holds the credential; never the credential.'),
  region_header: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be a header name in lower case')
    .exactOptional()
    .describe('Response header in which an engine of your own says where it ran.'),
  region_body: regionBody.exactOptional().meta({ description: REGION_BODY }),
  models: z
    .record(workloadName, z.string().regex(/^[\x21-\x7e]{1,256}$/, 'must be a model id'))
    .describe("Workload: the endpoint's own dated id of the model that serves it."),
  tokens_per_minute: z.int().min(1).exactOptional().describe('Quota of the endpoint.'),
  probe_tokens: z
    .int()
    .min(1)
    .max(1_024)
    .exactOptional()
    .describe(
      'Output tokens that a health probe asks for: 16 without it, which some models refuse as too few.',
    ),
});

export type EndpointEntry = z.infer<typeof endpointEntrySchema>;

/** The endpoint of an entry: its country comes from the catalogue wherever the region stands there. */
export function endpointOf(entry: EndpointEntry, credential: Secret | undefined): Endpoint {
  const provider = providerOf(entry.provider);
  const known = entry.region === undefined ? undefined : cloudRegion(entry.region);
  const country = known?.country ?? entry.country;
  const promised = provider.placeOf(entry.base_url);
  const steering = provider.steering?.(entry.base_url);
  const zone =
    country === undefined && promised?.kind === 'zone' ? promised.zone : zoneOfCountry(country ?? '');
  return {
    id: entry.id,
    provider: entry.provider,
    api: provider.api,
    ...(entry.region !== undefined && { region: entry.region }),
    ...(country !== undefined && { country }),
    ...(zone !== undefined && { zone }),
    ...(entry.facility !== undefined && { facility: entry.facility }),
    deployment: entry.deployment,
    baseUrl: entry.base_url,
    ...(credential !== undefined && { credential }),
    ...(entry.region_header !== undefined && { regionHeader: entry.region_header }),
    ...(entry.region_body !== undefined && { regionBody: entry.region_body.split('.') }),
    ...(steering !== undefined && { pin: steering.pin }),
    models: entry.models,
    ...(entry.tokens_per_minute !== undefined && { tokensPerMinute: entry.tokens_per_minute }),
    ...(entry.probe_tokens !== undefined && { probeTokens: entry.probe_tokens }),
  };
}
