import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** The origin file of the wire contract. */
export const ORIGIN = `jurisdiction: eu
listen: { host: 127.0.0.1, port: 8801 }
admin:  { host: 127.0.0.1, port: 8901, token_env: RESIDENCY_ADMIN_TOKEN }
store: sqlite:data/eu.db                  # or postgres://…
edge_keys: keys/edge.jwks.json            # public keys whose assertions count
signing_key: keys/eu.jwk.json             # Ed25519: receipts and checkpoints
log_name: residency.example/eu
endpoints:                                # the registry
  - id: fra-bedrock
    provider: bedrock                     # openai | azure-openai | anthropic | bedrock | vertex | openai-compatible
    region: eu-central-1
    facility: AWS Frankfurt               # optional, goes on the receipt
    deployment: regional                  # regional | zone | global
    base_url: https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1
    credential_env: BEDROCK_EU_KEY
    models: { contract-review: vendor.example-model-20260101-v1:0 }
    tokens_per_minute: 2400000            # quota, optional
  - id: dub-bedrock
    provider: bedrock
    region: eu-west-1
    deployment: regional
    base_url: https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1
    credential_env: BEDROCK_EU_KEY
    models: { contract-review: vendor.example-model-20260101-v1:0 }
  - id: par-azure
    provider: azure-openai
    region: France Central
    deployment: regional
    base_url: https://acme.openai.azure.com/openai/v1
    models: { contract-review: example-2026-01-01 }
  - id: own-dc-vllm
    provider: openai-compatible
    region: own-dc-1
    country: DE
    deployment: regional
    base_url: http://127.0.0.1:8000/v1
    models: { contract-review: local-model-1 }
policies: [policies/eu-gdpr-strict.yaml]
tenants: tenants/eu.yaml                  # declared tenants; a stored record of the same name wins whole
`;

/** The policy document of the wire contract. */
export const POLICY = `policy: eu-gdpr-strict
version: 4.2.0
jurisdiction: eu
author: a.person
reviewer: b.person                        # must differ
retention_days: 2190
allow:
  countries: [EEA]                        # ISO codes and the named sets EEA, EU
  regions: []                             # optional: narrows further
  deployments: [regional]
  models: []                              # optional: dated model ids approved for use
  region_evidence: declared               # the weakest grade that will do
workloads:
  contract-review:
    class: large
    failover:
      primary: fra-bedrock
      secondary: [dub-bedrock, par-azure]
      last_resort: own-dc-vllm
      on_exhausted: fail_closed           # the only value there is
    health: { probe: synthetic_completion, interval_seconds: 10, open_circuit_after: 5, half_open_after_seconds: 30, max_ttft_ms: 4000 }
tenants:                                  # optional narrower graphs, by contract
  agency-de:
    allow: { countries: [DE] }
`;

export const TENANTS = `tenants:
  acme:
    jurisdiction: eu
    policy: eu-gdpr-strict
    teams:
      irish: { allowed_regions: [eu-west-1], workloads: [contract-review] }
    keys:
      - { id: k1, team: irish, sha256: "${'a'.repeat(64)}" }
      - { id: k2, sha256: "${'1'.repeat(64)}" }
  agency-de:
    jurisdiction: eu
    policy: eu-gdpr-strict
    keys: [{ id: k1, sha256: "${'2'.repeat(64)}" }]
`;

export const ENVIRONMENT = {
  RESIDENCY_ADMIN_TOKEN: 'admin-token-value',
  BEDROCK_EU_KEY: 'bedrock-key-value',
};

const pair = (kid: string) => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return {
    public: { ...publicKey.export({ format: 'jwk' }), kid },
    private: { ...privateKey.export({ format: 'jwk' }), kid },
  };
};

/** Keys as they lie in the files of `originFiles`. */
export const EDGE_KEY = pair('edge-1');
export const ORIGIN_KEY = pair('eu-1');

const STANDARD = {
  'eu.yaml': ORIGIN,
  'policies/eu-gdpr-strict.yaml': POLICY,
  'tenants/eu.yaml': TENANTS,
  'keys/edge.jwks.json': JSON.stringify({ keys: [EDGE_KEY.public] }),
  'keys/eu.jwk.json': JSON.stringify(ORIGIN_KEY.private),
};

/**
 * The contract's own configuration in a folder of its own, with some files replaced or left out; gone when the test ends.
 * Gives the path of the origin's file.
 */
export function originFiles(replaced: Readonly<Record<string, string | undefined>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'residency-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries({ ...STANDARD, ...replaced })) {
    if (text === undefined) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return join(folder, 'eu.yaml');
}
