import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { TENANT_ID } from '../../shared/gateway-key.ts';
import { keyHash } from '../admit/key.ts';
import { newGatewayKey } from '../keys/gateway-key.ts';
import { newSigningKey, writePrivateKey, writePublicKeys } from '../keys/signing-key.ts';
import { UsageFault } from '../usage-fault.ts';

const SECONDS_OF_A_DAY = 86_400;

interface KeygenOptions {
  readonly out?: string;
  readonly days?: string;
  readonly tenant?: string;
  readonly json?: boolean;
}

/** `residency keygen`: makes an Ed25519 signing key, or with `--tenant` a gateway key. */
export const command = (): Command =>
  new Command('keygen')
    .description(
      'Makes an Ed25519 key pair for signing, or with --tenant a gateway key, which is shown once.',
    )
    .option('--out <file>', 'where the private key goes (JWK); the public one goes beside it as .jwks.json')
    .option('--days <count>', 'for how long signatures of the key count, from now on; left out: without end')
    .option('--tenant <id>', 'make a gateway key of this tenant')
    .option('--json', 'print JSON')
    .action(async (options: KeygenOptions) => {
      if ((options.out === undefined) === (options.tenant === undefined)) {
        throw new UsageFault('give either --out FILE for a signing key or --tenant ID for a gateway key');
      }
      const made =
        options.tenant === undefined
          ? await signingKey(options.out ?? '', options.days)
          : gatewayKey(options.tenant);
      const lines = Object.entries(made).map(([name, value]) => `${name}: ${value}`);
      process.stdout.write(options.json ? `${JSON.stringify(made)}\n` : `${lines.join('\n')}\n`);
    });

async function signingKey(file: string, days: string | undefined): Promise<Record<string, string>> {
  if (existsSync(file)) throw new UsageFault(`${file} exists already; a key is never overwritten`);
  const publicFile = `${file.replace(/\.jwk\.json$/, '')}.jwks.json`;
  const key = await newSigningKey(validity(days));
  await writePrivateKey(file, key.private);
  await writePublicKeys(publicFile, [key.public]);
  return { kid: key.public.kid ?? '', private_key: file, public_keys: publicFile };
}

/** From now until so many days from now, in seconds since the epoch. */
function validity(days: string | undefined): { nbf: number; exp?: number } {
  const nbf = Math.floor(Date.now() / 1000);
  if (days === undefined) return { nbf };
  if (!/^[1-9]\d{0,4}$/.test(days)) throw new UsageFault('--days takes a number from 1 to 99999');
  return { nbf, exp: nbf + Number(days) * SECONDS_OF_A_DAY };
}

function gatewayKey(tenant: string): Record<string, string> {
  if (!TENANT_ID.test(tenant))
    throw new UsageFault('a tenant id has lower-case letters, digits and hyphens, 63 at most');
  const key = newGatewayKey(tenant);
  const sha256 = keyHash(key);
  return { key, sha256, tenants_file: `- { id: first, sha256: "${sha256}" }` };
}
