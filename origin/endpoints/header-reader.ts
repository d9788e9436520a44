import type { IncomingHttpHeaders } from 'node:http';
import type { HeaderReader } from './provider-contract.ts';

/** Reads headers that came as one value each. */
export const headerReader =
  (headers: IncomingHttpHeaders): HeaderReader =>
  (name) => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  };
