import { type EdgeOptions, type RunningEdge, startEdge } from '../../origin/dev/edge.ts';
import { newSigningKey, type SigningKey } from '../../origin/keys/signing-key.ts';
import type { Limits } from '../../origin/limits.ts';
import type { OriginSetup } from '../../origin/main.ts';
import { startZone, type TestZone, type ZoneSpec } from './zone.ts';

export interface TestGateway {
  readonly edge: RunningEdge;
  readonly edgeKey: SigningKey;
  readonly eu: TestZone;
  readonly us: TestZone;
  close(): Promise<void>;
}

export interface TestGatewayOptions {
  readonly limits?: Partial<Limits>;
  readonly setup?: OriginSetup;
  readonly edge?: Partial<EdgeOptions>;
  /** Replaces members of one zone's specification. */
  readonly eu?: Partial<ZoneSpec>;
  readonly us?: Partial<ZoneSpec>;
}

/**
 * The real thing, small: the production build of the edge in workerd, before an origin `eu` with two OpenAI
 * endpoints (Frankfurt, Dublin) and one Anthropic endpoint (Frankfurt), and an origin `us`. Tenants: `acme`
 * (eu; its key `locked` is of a team locked to Dublin, `narrow` of a team that may call only `embed`,
 * `revoked` is revoked) and `globex` (us).
 */
export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const edgeKey = await newSigningKey();
  const common = {
    edgeKey: edgeKey.private,
    workloads: { 'support-chat': 'large', embed: 'embedding' },
    ...(options.limits && { limits: options.limits }),
    ...(options.setup && { setup: options.setup }),
  };
  const eu = await startZone({
    ...common,
    zone: 'eu',
    countries: ['EEA'],
    endpoints: [
      { id: 'fra', region: 'eu-central-1' },
      { id: 'dub', region: 'eu-west-1' },
      { id: 'fra-messages', region: 'eu-central-1', provider: 'anthropic' },
    ],
    tenants: [
      {
        id: 'acme',
        teams: {
          locked: { allowed_regions: ['eu-west-1'] },
          narrow: { workloads: ['embed'] },
          nowhere: { allowed_regions: ['eu-north-1'] },
        },
        keys: [
          { id: 'locked', team: 'locked' },
          { id: 'narrow', team: 'narrow' },
          { id: 'nowhere', team: 'nowhere' },
          { id: 'revoked', revoked: true },
        ],
      },
      { id: 'paused', state: 'suspended' },
      { id: 'leaving', state: 'moving' },
    ],
    ...options.eu,
  });
  const us = await startZone({
    ...common,
    zone: 'us',
    countries: ['US'],
    endpoints: [
      { id: 'iad', region: 'us-east-1' },
      { id: 'iad-messages', region: 'us-east-1', provider: 'anthropic' },
    ],
    tenants: [{ id: 'globex' }],
    ...options.us,
  });
  const edge = await startEdge({
    port: 0,
    origins: { eu: eu.origin.url, us: us.origin.url },
    unattributedHome: 'eu',
    signingKey: edgeKey.private,
    ...options.edge,
  });
  await edge.putTenant('acme', { jurisdiction: 'eu', state: 'active', version: 1 });
  await edge.putTenant('paused', { jurisdiction: 'eu', state: 'active', version: 1 });
  await edge.putTenant('leaving', { jurisdiction: 'eu', state: 'active', version: 1 });
  await edge.putTenant('globex', { jurisdiction: 'us', state: 'active', version: 1 });
  return {
    edge,
    edgeKey,
    eu,
    us,
    close: async () => {
      await edge.close();
      await eu.close();
      await us.close();
    },
  };
}
