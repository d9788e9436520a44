import { Pool } from 'undici';
import type { Clock } from '../clock.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { AccessTokens } from '../endpoints/provider.ts';
import type { Limits } from '../limits.ts';
import { GoogleTokens } from './access-tokens.ts';

/** How long a connection lives at most, in ms; after it a changed DNS answer is followed. */
const CONNECTION_LIFETIME_MS = 60_000;

/** How long an idle connection is kept, in ms: below the 5 s of Node's and many other servers. */
const IDLE_MS = 4_000;

/** Bytes of an endpoint's response headers at most. */
const RESPONSE_HEADER_BYTES = 65_536;

/** What the calls to all endpoints share: one connection pool for each, and the tokens of their accounts. */
export class Pools {
  readonly tokens: AccessTokens;
  readonly #pools = new Map<string, Pool>();
  readonly #limits: Pick<Limits, 'connect_ms' | 'upstream_connections'>;

  constructor(limits: Pick<Limits, 'connect_ms' | 'upstream_connections'>, clock: Clock) {
    this.#limits = limits;
    this.tokens = new GoogleTokens(clock);
  }

  of(endpoint: Endpoint): Pool {
    const known = this.#pools.get(endpoint.id);
    if (known) return known;
    const pool = new Pool(endpoint.baseUrl.origin, {
      connections: this.#limits.upstream_connections,
      connect: { timeout: this.#limits.connect_ms },
      clientTtl: CONNECTION_LIFETIME_MS,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: CONNECTION_LIFETIME_MS,
      maxHeaderSize: RESPONSE_HEADER_BYTES,
      allowH2: false,
      // The limits of an attempt are its own; the client's 300 s would undercut them.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#pools.set(endpoint.id, pool);
    return pool;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }
}
