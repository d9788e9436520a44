import type { IncomingHttpHeaders } from 'node:http';
import type { HeaderReader } from './provider-contract.ts';

/**
 * Reads a header, also one that came several times: what was said twice alike counts once, and what contradicts
 * itself is given with every word of it, so that no reader takes it for one value, or for none.
 */
export const headerReader =
  (headers: IncomingHttpHeaders): HeaderReader =>
  (name) => {
    const value = headers[name];
    return Array.isArray(value) ? [...new Set(value)].join(', ') : value;
  };
