const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Whether a text has the form of a request id. */
export const isRequestId = (text: string | null | undefined): text is string =>
  typeof text === 'string' && REQUEST_ID.test(text);

/**
 * The id under which a call is answered and recorded: the caller's own where its form allows it, else a new
 * one from `make` (a ULID). A caller's id may repeat, so it is never a key.
 */
export const requestIdFrom = (header: string | null | undefined, make: () => string): string =>
  isRequestId(header) ? header : make();
