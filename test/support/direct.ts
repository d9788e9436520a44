import { Agent, type Dispatcher, request } from 'undici';
import { newSigningKey, type SigningKey } from '../../origin/keys/signing-key.ts';
import type { Zone } from '../../shared/zones.ts';
import { presented, type TestCall } from './calls.ts';
import { assertionOf } from './worded-assertion.ts';
import { type EndpointSpec, startZone, type TestZone, type ZoneSpec } from './zone.ts';

/** An origin that a test calls without the edge between. */
export interface DirectOrigin {
  readonly zone: TestZone;
  readonly name: Zone;
  readonly edgeKey: SigningKey;
  readonly tenant: string;
  /** The origin's idea of the time, in ms since the epoch. */
  readonly now?: () => number;
}

/** The headers with which the edge would have passed a call of the tenant on. Good for one call. */
export async function directHeaders(
  { zone, name, edgeKey, tenant, now = Date.now }: DirectOrigin,
  target: string,
  method = 'POST',
): Promise<Record<string, string>> {
  const iat = now() / 1_000;
  const asserted = { zone: name, tenant, target, method };
  const assertion = await assertionOf(edgeKey.private, asserted, { claims: { iat, exp: iat + 60 } });
  return {
    ...presented(name, zone.key(tenant)),
    'content-type': 'application/json',
    'x-residency-assertion': assertion,
  };
}

const dispatcher = new Agent({ connections: 256 });

/** One call straight to the origin, up to the headers of its answer. */
export async function callOrigin(
  origin: DirectOrigin,
  target: string,
  { method = 'POST', headers, ...rest }: TestCall = {},
): Promise<Dispatcher.ResponseData> {
  const asserted = await directHeaders(origin, target, method);
  return request(origin.zone.origin.url + target, {
    method,
    headers: { ...asserted, ...headers },
    ...rest,
    dispatcher,
  });
}

/** Two endpoints of each API, so that a call of either has somewhere else to go. */
export const TWO_OF_EACH: readonly EndpointSpec[] = [
  { id: 'fra', region: 'eu-central-1' },
  { id: 'dub', region: 'eu-west-1' },
  { id: 'fra-messages', region: 'eu-central-1', provider: 'anthropic' },
  { id: 'dub-messages', region: 'eu-west-1', provider: 'anthropic' },
];

/** An origin `eu` alone, with two endpoints of each API and the tenant `acme`. */
export async function startDirect(spec: Partial<ZoneSpec> = {}): Promise<DirectOrigin> {
  const edgeKey = await newSigningKey();
  const zone = await startZone({
    zone: 'eu',
    edgeKey: edgeKey.private,
    countries: ['EEA'],
    endpoints: TWO_OF_EACH,
    tenants: [{ id: 'acme' }],
    workloads: { 'support-chat': 'large' },
    ...spec,
  });
  const clock = spec.setup?.clock;
  return { zone, name: 'eu', edgeKey, tenant: 'acme', ...(clock && { now: () => clock.now() }) };
}

/** Forgets orders and requests of every provider of an origin. */
export function resetZone({ providers }: TestZone): void {
  for (const provider of providers.values()) provider.reset();
}
