import type { Circuit } from './circuit.ts';

/** Every state that a circuit can be in, by its name. */
export const CIRCUIT_KINDS = {
  closed: 'closed',
  open: 'open',
  half_open: 'half_open',
  forced_open: 'forced_open',
  forced_closed: 'forced_closed',
  quarantined: 'quarantined',
} as const satisfies { [Kind in Circuit['kind']]: Kind };
