const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * The id under which a call is answered and recorded: the caller's own where its form allows it, else a new
 * one from `make` (a ULID). A caller's id may repeat, so it is never a key.
 */
export const requestIdFrom = (header: string | null | undefined, make: () => string): string =>
  header !== null && header !== undefined && REQUEST_ID.test(header) ? header : make();
