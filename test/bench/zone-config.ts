import { join } from 'node:path';
import type { JWK } from 'jose';
import { loadConfig, type OriginConfig } from '../../origin/config.ts';
import { type Provider, startProvider } from '../../origin/dev/provider.ts';
import { newSigningKey } from '../../origin/keys/signing-key.ts';
import { ADMIN_TOKEN, keysOf, writeConfig, type ZoneSpec } from '../support/zone.ts';

/** What it takes to start origins of one zone and to call them as the edge does. */
export interface BenchZone {
  readonly edgeKey: JWK;
  /** Gateway key of the tenant `acme`. */
  readonly key: string;
  readonly provider: Provider;
  /** The same configuration for each origin, but for its log. @param log name of that */
  config(log: string): OriginConfig;
}

/** A zone `eu` with one endpoint, the programmable provider, and one tenant, whose files are in `folder`. */
export async function benchZone(folder: string): Promise<BenchZone> {
  const edgeKey = (await newSigningKey()).private;
  const spec: ZoneSpec = {
    ...{ zone: 'eu', edgeKey, countries: ['EEA'] },
    endpoints: [{ id: 'fra', region: 'eu-central-1' }],
    tenants: [{ id: 'acme' }],
  };
  const provider = await startProvider();
  const keys = keysOf(spec.tenants);
  const file = await writeConfig(folder, spec, new Map([['fra', provider]]), keys);
  const config = loadConfig(file, { TEST_ADMIN_TOKEN: ADMIN_TOKEN });
  if (!config.ok) throw new Error(config.error.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  const loaded = config.value;
  return {
    ...{ edgeKey, key: keys.get('acme/main') ?? '', provider },
    config: (log) => ({ ...loaded, store: { kind: 'sqlite', file: join(folder, `${log}.db`) } }),
  };
}
