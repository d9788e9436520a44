const CRLF = '\r\n';

/** Parts of one form at most; a transcription has about eight. */
const PARTS_MAX = 128;

/** Bytes of one part's header block at most. */
const PART_HEADER_BYTES = 8_192;

export interface ModelField {
  /** Byte offsets of the field's value in the form. */
  readonly start: number;
  readonly end: number;
  readonly value: string;
}

export type FormScan =
  | { readonly kind: 'form'; readonly boundary: string; readonly fields: readonly ModelField[] }
  | { readonly kind: 'invalid'; readonly why: string };

/** The `boundary` parameter of a `multipart/form-data` content type (RFC 2046 section 5.1.1). */
export function boundaryOf(contentType: string | undefined): string | undefined {
  if (!/^multipart\/form-data\s*;/i.test(contentType ?? '')) return undefined;
  const match = /;\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType ?? '');
  return match?.[1] ?? match?.[2];
}

/**
 * Finds the `model` fields of a `multipart/form-data` body (RFC 7578) by their place, so that the value can
 * be replaced while files and all other fields stay as they were sent.
 */
export function scanForm(body: Buffer, boundary: string): FormScan {
  const delimiter = Buffer.from(`${CRLF}--${boundary}`);
  const fields: ModelField[] = [];
  let at = openingEnd(body, boundary);
  for (let parts = 0; at !== undefined; parts += 1) {
    if (parts === PARTS_MAX) return { kind: 'invalid', why: `the form has more than ${PARTS_MAX} parts` };
    if (body.toString('latin1', at, at + 2) === '--') return { kind: 'form', boundary, fields };
    const headersStart = body.indexOf(CRLF, at);
    const headersEnd = body.indexOf(CRLF + CRLF, headersStart);
    const end = body.indexOf(delimiter, Math.max(headersEnd, at));
    if (headersStart === -1 || headersEnd === -1 || end === -1 || headersEnd - at > PART_HEADER_BYTES) break;
    const start = headersEnd + 4;
    if (isModelField(body.toString('utf8', headersStart, headersEnd)) && start <= end) {
      fields.push({ start, end, value: body.toString('utf8', start, end) });
    }
    at = end + delimiter.length;
  }
  return { kind: 'invalid', why: 'the form ends before its closing boundary' };
}

function openingEnd(body: Buffer, boundary: string): number | undefined {
  const opening = Buffer.from(`--${boundary}`);
  if (body.subarray(0, opening.length).equals(opening)) return opening.length;
  const preamble = body.indexOf(`${CRLF}--${boundary}`);
  return preamble === -1 ? undefined : preamble + 2 + opening.length;
}

function isModelField(headers: string): boolean {
  const disposition = /^content-disposition:\s*form-data(.*)$/im.exec(headers)?.[1] ?? '';
  return /;\s*name="?model"?\s*(;|$)/i.test(disposition) && !/;\s*filename\*?=/i.test(disposition);
}

/** A form part that holds `model`, to go before the first part of a form that has none. */
export const modelPart = (boundary: string, model: string): Buffer =>
  Buffer.from(
    `--${boundary}${CRLF}content-disposition: form-data; name="model"${CRLF}${CRLF}${model}${CRLF}`,
  );
