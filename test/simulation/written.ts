/** The documents of the simulated zone, as somebody wrote them. */

export const WORKLOADS = ['chat', 'draft'] as const;

/** In a header of its own each endpoint says where it ran, if it says so. */
export const REGION_HEADER = 'x-served-from';

const OPENAI = 'openai-compatible';

/** London stands in both graphs by mistake: nobody may ever be served there. */
const ENDPOINTS = [
  { id: 'fra', provider: OPENAI, region: 'eu-central-1' },
  { id: 'dub', provider: OPENAI, region: 'eu-west-1' },
  { id: 'sto', provider: OPENAI, region: 'eu-north-1' },
  { id: 'lon', provider: OPENAI, region: 'eu-west-2' },
  { id: 'fra-messages', provider: 'anthropic', region: 'eu-central-1' },
  { id: 'dub-messages', provider: 'anthropic', region: 'eu-west-1' },
] as const;

export const ENDPOINT_IDS = ENDPOINTS.map(({ id }) => id);

/** How the circuits are set, in the terms of the policy. */
export const HEALTH = {
  interval_seconds: 7,
  open_circuit_after: 4,
  half_open_after_seconds: 10,
  max_ttft_ms: 4_000,
};

/** As a policy document has it. */
export const POLICY = {
  policy: 'eu-simulated',
  version: '1.0.0',
  jurisdiction: 'eu',
  author: 'a.person',
  reviewer: 'b.person',
  allow: { countries: ['EEA'] },
  workloads: {
    chat: {
      class: 'large',
      failover: {
        primary: 'fra',
        secondary: ['lon', 'fra-messages', 'dub', 'dub-messages'],
        last_resort: 'sto',
      },
      health: HEALTH,
    },
    draft: {
      class: 'small',
      failover: { primary: 'dub-messages', secondary: ['lon', 'dub', 'fra-messages', 'sto'] },
      health: { ...HEALTH, probe: 'none' },
    },
  },
  tenants: { 'agency-de': { allow: { countries: ['DE'] } } },
};

/** Small enough that a run of a few minutes meets each of them. */
const LIMITS = {
  body_idle_ms: 5_000,
  time_to_first_byte_ms: 15_000,
  time_to_first_token_ms: 8_000,
  stream_idle_ms: 6_000,
  client_stall_ms: 6_000,
  attempts_total_ms: 30_000,
  drain_ms: 5_000,
};

export const TEAMS = {
  dublin: { allowed_regions: ['eu-west-1'] },
  drafts: { workloads: ['draft'] },
  nowhere: { allowed_regions: ['eu-south-1'] },
};

/** The model id by which an endpoint knows a workload. */
export const modelAt = (endpoint: string, workload: string): string => `${endpoint}.${workload}-20260101`;

const NOWHERE = { host: '127.0.0.1', port: 0 };

/** As an origin's file has it. */
export const ORIGIN = {
  jurisdiction: 'eu',
  listen: NOWHERE,
  admin: NOWHERE,
  store: 'sqlite:log.db',
  edge_keys: 'edge.jwks.json',
  signing_key: 'origin.jwk.json',
  log_name: 'residency.test/eu',
  endpoints: ENDPOINTS.map(({ id, ...rest }) => ({
    id,
    ...rest,
    region_header: REGION_HEADER,
    deployment: 'regional',
    base_url: `https://${id}.test/v1`,
    models: Object.fromEntries(WORKLOADS.map((workload) => [workload, modelAt(id, workload)])),
  })),
  policies: ['policy.yaml'],
  tenants: 'tenants.yaml',
  limits: LIMITS,
};
