import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { Clock } from '../../origin/clock.ts';
import type { SigningKey } from '../../origin/keys/signing-key.ts';
import { assertionOf } from '../support/worded-assertion.ts';
import type { Ask } from './asks.ts';
import type { Wire } from './wire.ts';

/** What a caller has come to: an answer that was whole, a closed connection, or its own going. */
export type CallerState = 'waiting' | 'answered' | 'cut off' | 'hung up';

/** Somebody who makes one call over a connection of their own, as the edge passes it on. */
export class Caller {
  readonly ask: Ask;
  state: CallerState = 'waiting';
  status: number | undefined;
  headers: IncomingHttpHeaders = {};
  text = '';
  /** Since when the origin can know that it is over, in ms since the epoch. */
  overSince: number | undefined;
  readonly #clock: Clock;
  readonly #moved: () => void;
  #request: ClientRequest | undefined;

  constructor(ask: Ask, clock: Clock, moved: () => void) {
    this.ask = ask;
    this.#clock = clock;
    this.#moved = moved;
  }

  /** Sends the call. */
  call(wire: Wire, headers: Readonly<Record<string, string>>): void {
    const { path, body, flaw, hangsUpAfterMs } = this.ask;
    const length = Buffer.byteLength(body);
    const sent = request({
      method: 'POST',
      path,
      headers: { ...headers, 'content-length': length },
      createConnection: () => wire.near,
    });
    this.#request = sent;
    sent.on('error', () => this.#end('cut off'));
    sent.on('response', (answer) => this.#hear(answer));
    if (flaw === 'half a body') sent.write(body.slice(0, length / 2));
    else sent.end(body);
    if (hangsUpAfterMs !== undefined) this.#clock.setTimeout(() => this.#hangUp(), hangsUpAfterMs);
  }

  #hear(answer: IncomingMessage): void {
    this.#moved();
    this.status = answer.statusCode;
    this.headers = answer.headers;
    answer.setEncoding('utf8');
    answer.on('data', (text: string) => {
      this.#moved();
      this.text += text;
    });
    answer.on('error', () => this.#end('cut off'));
    answer.on('close', () => this.#end(answer.complete ? 'answered' : 'cut off'));
    const { dozesMs } = this.ask;
    if (dozesMs === 0) return;
    answer.pause();
    this.#clock.setTimeout(() => answer.resume(), dozesMs);
  }

  #hangUp(): void {
    if (this.state !== 'waiting') return;
    this.#end('hung up');
    this.#request?.destroy();
  }

  #end(state: CallerState): void {
    this.#moved();
    if (this.state === 'waiting') this.state = state;
  }
}

/** The headers with which the edge would pass a call on. */
export async function edgeHeaders(
  { id, member, path, flaw, idempotencyKey }: Ask,
  edgeKey: SigningKey,
  now: number,
): Promise<Record<string, string>> {
  const iat = now / 1_000;
  const asserted = { zone: 'eu', tenant: member.tenant, target: path } as const;
  const token = await assertionOf(edgeKey.private, asserted, { claims: { iat, exp: iat + 60 } });
  return {
    'content-type': 'application/json',
    'x-jurisdiction': 'eu',
    'x-request-id': id,
    authorization: `Bearer ${flaw === 'wrong key' ? `${member.key}x` : member.key}`,
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    ...(flaw !== 'no assertion' && { 'x-residency-assertion': token }),
  };
}
