import type { Exchange } from './exchange.ts';

/** Characters of what was received that an echo quotes at most. */
const MAX_ECHO = 65_536;

/** What the order says to quote of the request: its body, the credential, both, or nothing. */
export function echoOf({ order, arrival }: Exchange): string {
  const credential =
    arrival.header('authorization') ?? arrival.header('api-key') ?? arrival.header('x-api-key');
  return (order.echo ?? [])
    .map((what) => (what === 'prompt' ? arrival.body.toString('utf8') : (credential ?? '')))
    .join(' ')
    .slice(0, MAX_ECHO);
}
