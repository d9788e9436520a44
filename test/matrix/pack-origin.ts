import type { PackName } from '../../shared/policy.ts';

/** The zone of a pack, the country of its first region, and two regions that really stand there. */
const HOME: Readonly<
  Record<PackName, { zone: string; country: string; regions: readonly [string, string] }>
> = {
  'eu-gdpr-strict': { zone: 'eu', country: 'DE', regions: ['eu-central-1', 'eu-west-1'] },
  'eu-ai-act-high-risk': { zone: 'eu', country: 'DE', regions: ['eu-central-1', 'eu-west-1'] },
  'de-only': { zone: 'eu', country: 'DE', regions: ['eu-central-1', 'eu-west-1'] },
  us: { zone: 'us', country: 'US', regions: ['us-east-1', 'us-west-2'] },
  au: { zone: 'au', country: 'AU', regions: ['ap-southeast-2', 'ap-southeast-4'] },
  jp: { zone: 'jp', country: 'JP', regions: ['ap-northeast-1', 'ap-northeast-3'] },
  uk: { zone: 'uk', country: 'GB', regions: ['eu-west-2', 'uksouth'] },
  ch: { zone: 'ch', country: 'CH', regions: ['eu-central-2', 'switzerlandnorth'] },
};

const APPROVED = 'large-20260101';
const UNPINNED: ReadonlySet<PackName> = new Set(['eu-ai-act-high-risk', 'us', 'au', 'jp', 'uk', 'ch']);

const endpoint = (id: string, change: object) => ({
  id,
  provider: 'openai-compatible',
  deployment: 'regional',
  base_url: 'http://127.0.0.1:9/v1',
  models: { chat: APPROVED, public: APPROVED },
  ...change,
});

/**
 * An origin whose graphs hold every mistake there is: endpoints of three other zones, one that is labelled
 * nowhere, one that routes over its zone and one over the world. By file name below its folder.
 */
export function packOrigin(names: readonly [PackName, ...PackName[]] | readonly PackName[]) {
  const { zone, country, regions } = HOME[names[0] ?? 'us'];
  const [home, second] = regions;
  const endpoints = [
    endpoint('home', { region: home, region_header: 'x-region' }),
    endpoint('second', { region: second, models: { chat: 'other-20260101', public: APPROVED } }),
    endpoint('frankfurt', { region: 'europe-west3' }),
    endpoint('london', { region: 'europe-west2' }),
    endpoint('virginia', { region: 'us-east-2' }),
    endpoint('nowhere', {}),
    endpoint('zone-wide', { region: home, deployment: 'zone' }),
    endpoint('world-wide', { region: home, deployment: 'global' }),
    endpoint('messages', { provider: 'anthropic', region: home }),
    endpoint('own', { region: 'own-dc-1', country }),
  ];
  const [primary, ...rest] = endpoints.map(({ id }) => id);
  const last_resort = rest.pop();
  const failover = { primary, secondary: rest, last_resort };
  const open = names.every((name) => UNPINNED.has(name));
  const keys: object[] = [];
  const teams = {
    free: {},
    locked: { allowed_regions: [home, 'europe-west2', 'us-east-2'] },
    elsewhere: { allowed_regions: ['eu-north-1'] },
    talkers: { workloads: ['chat'] },
  };
  const tenant = { jurisdiction: zone, policy: 'tested', teams, keys };
  return {
    'origin.yaml': {
      jurisdiction: zone,
      listen: { host: '127.0.0.1', port: 1 },
      admin: { host: '127.0.0.1', port: 2 },
      store: 'sqlite:log.db',
      edge_keys: 'edge.jwks.json',
      signing_key: 'origin.jwk.json',
      log_name: `residency.example/${zone}`,
      endpoints,
      policies: ['policy.yaml', 'shown.yaml'],
      tenants: 'tenants.yaml',
    },
    'policy.yaml': document('tested', {}),
    'shown.yaml': document('shown', { region_evidence: 'hostname' }),
    'tenants.yaml': { tenants: { plain: tenant, 'one-country': tenant } },
  };

  function document(policy: string, allow: object) {
    const deployments = names.some((name) => zone === 'eu' && name !== 'eu-ai-act-high-risk')
      ? ['regional']
      : ['regional', 'zone'];
    const models = names.includes('eu-ai-act-high-risk') ? [APPROVED] : [];
    const countries = zone === 'eu' ? ['EEA'] : [country];
    return {
      policy,
      version: '1.0.0',
      jurisdiction: zone,
      author: 'a.person',
      reviewer: 'b.person',
      packs: [...names],
      allow: { countries, deployments, models, ...allow },
      workloads: {
        chat: { class: 'large', failover },
        ...(open && { public: { class: 'large', pinned: false, reason: 'public texts only', failover } }),
      },
      tenants: {
        'one-country': { allow: { countries: [country] } },
        'one-region': { allow: { regions: [home] } },
        regional: { allow: { deployments: ['regional'] } },
        ...(open && { public: { workloads: ['public'] } }),
      },
    };
  }
}
