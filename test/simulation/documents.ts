import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { keyHash } from '../../origin/admit/key.ts';
import { loadConfig, type OriginConfig } from '../../origin/config.ts';
import { newGatewayKey } from '../../origin/keys/gateway-key.ts';
import {
  newSigningKey,
  type SigningKey,
  writePrivateKey,
  writePublicKeys,
} from '../../origin/keys/signing-key.ts';
import { type Caller, type Written, writtenPolicies } from '../matrix/allowed.ts';
import { ORIGIN, POLICY, TEAMS } from './written.ts';

/** Somebody who calls: a key, and what it stands for. */
export interface Member extends Caller {
  readonly key: string;
}

/** An origin's configuration as its files hold it, and the same read by other eyes. */
export interface Documents {
  readonly config: OriginConfig;
  readonly written: Written;
  readonly edgeKey: SigningKey;
  readonly publicKey: SigningKey['public'];
  readonly members: readonly [Member, ...Member[]];
}

/** Writes the files of an origin, and reads them as the origin does. */
export async function simulatedDocuments(): Promise<Documents> {
  const folder = await mkdtemp(join(tmpdir(), 'residency-simulation-'));
  try {
    return await documentsIn(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function documentsIn(folder: string): Promise<Documents> {
  const write = (name: string, document: object) => writeFile(join(folder, name), stringify(document));
  const [edgeKey, ownKey] = [await newSigningKey(), await newSigningKey()];
  await writePublicKeys(join(folder, 'edge.jwks.json'), [edgeKey.public]);
  await writePrivateKey(join(folder, 'origin.jwk.json'), ownKey.private);
  const acme = { tenant: 'acme', key: newGatewayKey('acme') };
  const agency = { tenant: 'agency-de', key: newGatewayKey('agency-de') };
  const inTeam = (name: keyof typeof TEAMS) => ({ ...acme, team: TEAMS[name], key: newGatewayKey('acme') });
  const teams = { dublin: inTeam('dublin'), drafts: inTeam('drafts'), nowhere: inTeam('nowhere') };
  const hashed = (id: string, { key }: Member) => ({ id, sha256: keyHash(key) });
  const common = { jurisdiction: 'eu', policy: POLICY.policy };
  const teamKeys = Object.entries(teams).map(([team, member]) => ({ ...hashed(team, member), team }));
  await write('tenants.yaml', {
    tenants: {
      acme: { ...common, teams: TEAMS, keys: [hashed('main', acme), ...teamKeys] },
      'agency-de': { ...common, keys: [hashed('main', agency)] },
    },
  });
  await write('policy.yaml', POLICY);
  await write('origin.yaml', ORIGIN);
  const config = loadConfig(join(folder, 'origin.yaml'), {});
  const [written] = writtenPolicies(join(folder, 'origin.yaml'));
  if (!config.ok) throw new Error(config.error.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  if (written === undefined) throw new Error('there is no policy');
  const { dublin, drafts, nowhere } = teams;
  return {
    config: config.value,
    written,
    edgeKey,
    publicKey: ownKey.public,
    members: [acme, acme, acme, acme, acme, acme, agency, agency, dublin, dublin, drafts, nowhere],
  };
}
