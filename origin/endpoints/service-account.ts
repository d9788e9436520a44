import { z } from 'zod';
import { err, ok, type Result } from '../../shared/result.ts';

/** Google's token endpoint, the only one that a key's signature is worth anything to. */
const TOKEN_URI = 'https://oauth2.googleapis.com/token';

const LOOPBACK_URI = /^http:\/\/127\.0\.0\.1:\d{1,5}\/token$/;

/** Characters of a key file at most; Google's have about 2,400. */
const FILE_CHARS = 16_384;

const accountSchema = z.object({
  type: z.literal('service_account'),
  client_email: z.string().min(1).max(256),
  private_key_id: z.string().max(256).optional(),
  /** PKCS #8, PEM. */
  private_key: z.string().startsWith('-----BEGIN PRIVATE KEY-----').max(8_192),
  token_uri: z
    .string()
    .refine((uri) => uri === TOKEN_URI || LOOPBACK_URI.test(uri))
    .default(TOKEN_URI),
});

/** The key of a Google service account, as its JSON file holds it. */
export type ServiceAccount = Readonly<z.infer<typeof accountSchema>>;

/** Whether a credential is meant to be a key file, and not a token. */
export const isKeyFile = (text: string): boolean => text.trimStart().startsWith('{');

/**
 * Reads a service account's key file; in words what is wrong with it, none of them its own:
 * https://docs.cloud.google.com/iam/docs/keys-create-delete
 */
export function readServiceAccount(text: string): Result<ServiceAccount, string> {
  if (text.length > FILE_CHARS) return err('is too long for a service account key');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return err('begins like a service account key but is not JSON');
  }
  const account = accountSchema.safeParse(json);
  if (account.success) return ok(account.data);
  const members = new Set(account.error.issues.map(({ path }) => String(path[0])));
  return err(`is not the key of a service account: look at ${[...members].join(', ')}`);
}
