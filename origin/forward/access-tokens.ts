import { importPKCS8, SignJWT } from 'jose';
import { request } from 'undici';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { NoCredential } from '../endpoints/no-credential.ts';
import type { AccessTokens } from '../endpoints/provider-contract.ts';
import type { ServiceAccount } from '../endpoints/service-account.ts';

/** Longest life of an assertion and of a token, in seconds, as Google sets it. */
const LIFETIME_S = 3_600;

/** How long before its end a token is replaced, in ms, while it still serves. */
const EARLY_MS = 300_000;

/** How long before its end a token is not used any more, in ms: it must last for the way to the endpoint. */
const MARGIN_MS = 30_000;

/** Until the token endpoint has answered, in ms. */
const WITHIN_MS = 10_000;

/** How long a failure stands before the token endpoint is asked again, in ms. */
const AGAIN_MS = 1_000;

/** Bytes of the token endpoint's answer at most. */
const ANSWER_BYTES = 16_384;

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

const answerSchema = z.object({
  access_token: z.string().regex(/^[\x21-\x7e]{1,4096}$/),
  expires_in: z.number().positive(),
});

interface Kept {
  readonly token: string;
  /** ms since the epoch. */
  readonly endsAt: number;
}

/**
 * Access tokens for the keys of Google service accounts, by the JWT bearer grant (RFC 7523 section 2.1;
 * https://developers.google.com/identity/protocols/oauth2/service-account). One token for each key is kept, in
 * memory alone, and however many ask for it, it is fetched once.
 */
export class GoogleTokens implements AccessTokens {
  readonly #clock: Clock;
  /** By private key, of which there are as many as the configuration names. */
  readonly #kept = new Map<string, Kept>();
  readonly #asking = new Map<string, Promise<string>>();
  readonly #failed = new Map<string, { readonly until: number; readonly error: NoCredential }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async of(account: ServiceAccount): Promise<string> {
    const kept = this.#kept.get(account.private_key);
    const left = (kept?.endsAt ?? 0) - this.#clock.now();
    if (kept === undefined || left <= MARGIN_MS) return await this.#ask(account);
    // Nobody waits for the next one while this one will do, nor is hindered where there is none.
    if (left <= EARLY_MS) void this.#ask(account).catch(() => undefined);
    return kept.token;
  }

  async #ask(account: ServiceAccount): Promise<string> {
    const { private_key: key } = account;
    const failed = this.#failed.get(key);
    if (failed !== undefined && this.#clock.now() < failed.until) throw failed.error;
    const asking = this.#asking.get(key) ?? this.#renew(account).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return await asking;
  }

  async #renew(account: ServiceAccount): Promise<string> {
    const { private_key: key } = account;
    try {
      const askedAt = this.#clock.now();
      const { access_token: token, expires_in: seconds } = await this.#grant(account);
      this.#kept.set(key, { token, endsAt: askedAt + Math.min(seconds, LIFETIME_S) * 1_000 });
      this.#failed.delete(key);
      return token;
    } catch (cause) {
      const error = cause instanceof NoCredential ? cause : new NoCredential('no token could be had');
      this.#failed.set(key, { until: this.#clock.now() + AGAIN_MS, error });
      throw error;
    }
  }

  async #grant(account: ServiceAccount): Promise<z.infer<typeof answerSchema>> {
    const body = new URLSearchParams({ grant_type: GRANT, assertion: await this.#assertion(account) });
    const late = new AbortController();
    const cancel = this.#clock.setTimeout(() => late.abort(), WITHIN_MS);
    try {
      const { statusCode: status, body: answer } = await request(account.token_uri, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: body.toString(),
        signal: late.signal,
      });
      if (status !== 200) {
        await answer.dump({ limit: ANSWER_BYTES });
        throw new NoCredential(`the token endpoint answered ${status}`);
      }
      const token = answerSchema.safeParse(JSON.parse(await bounded(answer)));
      if (!token.success) throw new NoCredential('the token endpoint gave no token');
      return token.data;
    } catch (cause) {
      if (late.signal.aborted) throw new NoCredential(`the token endpoint gave no answer in ${WITHIN_MS} ms`);
      throw cause;
    } finally {
      cancel();
    }
  }

  async #assertion({
    client_email,
    private_key,
    private_key_id,
    token_uri,
  }: ServiceAccount): Promise<string> {
    const key = await importPKCS8(private_key, 'RS256').catch(() => {
      throw new NoCredential('the private key of the service account cannot be used');
    });
    const now = Math.floor(this.#clock.now() / 1_000);
    const kid = private_key_id === undefined ? {} : { kid: private_key_id };
    return new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...kid })
      .setIssuer(client_email)
      .setAudience(token_uri)
      .setIssuedAt(now)
      .setExpirationTime(now + LIFETIME_S)
      .sign(key);
  }
}

async function bounded(answer: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES) throw new NoCredential('the token endpoint gave no token');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
