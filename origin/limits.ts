import { z } from 'zod';

/** Longest time that `setTimeout` can hold (2^31 - 1 ms); above it Node fires at once. */
const LONGEST_MS = 2_147_483_647;

const MIB = 1024 * 1024;

const bytes = (standard: number) => z.int().min(1).max(Number.MAX_SAFE_INTEGER).default(standard);
const ms = (standard: number) => z.int().min(1).max(LONGEST_MS).default(standard);
const count = (standard: number) => z.int().min(1).max(1_000_000).default(standard);

/** The limits of one origin, by the names that its errors use: `*_bytes` in bytes, `*_ms` in milliseconds. */
export const limitsSchema = z.strictObject({
  /** One request body: room for about 20 MB of base64 images. */
  body_bytes: bytes(32 * MIB),
  /** All headers of one request: twice what SDKs, tracing and a long key need together. */
  header_bytes: bytes(16 * 1024),
  /** All request bodies held at once, so that many large uploads cannot fill the memory. */
  buffered_body_bytes: bytes(256 * MIB),
  /** Silence while a request body arrives, so that a stalled upload frees its place. */
  body_idle_ms: ms(30_000),
  /** Until the status line of a plain call: reasoning models answer after minutes. */
  time_to_first_byte_ms: ms(600_000),
  /** Until the first content of a stream; after it the next candidate is the better bet. */
  time_to_first_token_ms: ms(60_000),
  /** Silence inside a stream whose content has begun. */
  stream_idle_ms: ms(120_000),
  /** How long a caller may read nothing while there is something to read. */
  client_stall_ms: ms(60_000),
  /** All attempts of one call together: what the patience of the usual SDK (600 s) and a retry come to. */
  attempts_total_ms: ms(900_000),
  /** Calls under way at once. */
  concurrent_requests: count(1_000),
  /** Lifecycle frames of a stream that are held back before its first content. */
  held_back_bytes: bytes(256 * 1024),
  /** Until a record is durable; after it nothing is forwarded. */
  ledger_ms: ms(3_000),
  /** How long running calls may go on after the order to stop. */
  drain_ms: ms(30_000),
  /** Until a connection to an endpoint stands, TLS included. */
  connect_ms: ms(5_000),
  /** Connections to one endpoint: as many as calls, so that none has to wait for another to end. */
  upstream_connections: count(1_000),
});

export type Limits = Readonly<z.infer<typeof limitsSchema>>;
