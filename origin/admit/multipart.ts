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
  | {
      readonly kind: 'form';
      /** Byte offset of the first boundary line, before which a further part can be put. */
      readonly opening: number;
      readonly fields: readonly ModelField[];
    }
  | { readonly kind: 'invalid'; readonly why: string };

type Params = ReadonlyMap<string, string>;

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"((?:[^"\\\\\\r\\n]|\\\\[^\\r\\n])*)"';
const PARAM = new RegExp(`[ \\t]*;[ \\t]*(${TOKEN})=(?:${QUOTED}|([^\\s;,"\\\\]+))`, 'y');

/** The parameters of a header's value after `from`, or undefined where readers could disagree on them. */
function paramsOf(value: string, from: number): Params | undefined {
  const params = new Map<string, string>();
  let at = from;
  for (;;) {
    PARAM.lastIndex = at;
    const found = PARAM.exec(value);
    if (found === null) break;
    const name = found[1]?.toLowerCase() ?? '';
    if (params.has(name)) return undefined;
    params.set(name, found[2] ?? found[3] ?? '');
    at = PARAM.lastIndex;
  }
  return /^[ \t]*;?[ \t]*$/.test(value.slice(at)) ? params : undefined;
}

/** A boundary's own characters (RFC 2046 section 5.1.1). */
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

/** The `boundary` parameter of a `multipart/form-data` content type, where there is exactly one. */
export function boundaryOf(contentType = ''): string | undefined {
  const type = /^multipart\/form-data(?=[ \t;])/i.exec(contentType);
  const params = type ? paramsOf(contentType, type[0].length) : undefined;
  if (params === undefined || [...params.keys()].some((name) => name.startsWith('boundary*')))
    return undefined;
  const boundary = params.get('boundary') ?? '';
  return BOUNDARY.test(boundary) ? boundary : undefined;
}

/**
 * Finds the `model` fields of a `multipart/form-data` body (RFC 7578) by their place, so that the value can
 * be replaced while files and all other fields stay as they were sent. Forms that an endpoint's reader could
 * take apart in another way are refused: it could find a model there that was not looked at here.
 */
export function scanForm(body: Buffer, boundary: string): FormScan {
  const dashed = Buffer.from(`--${boundary}`);
  const opening = body.indexOf(dashed);
  const preamble = body.toString('latin1', 0, Math.min(Math.max(opening, 0), 3));
  if (opening === -1 || (preamble !== '' && preamble !== CRLF))
    return invalid('does not begin with its boundary');
  const fields: ModelField[] = [];
  let at = opening + dashed.length;
  for (let parts = 0; parts <= PARTS_MAX; parts += 1) {
    if (body.toString('latin1', at, at + 2) === '--')
      return closed(body, at + 2, { kind: 'form', opening, fields });
    const part = partAt(body, at, dashed);
    if (typeof part === 'string') return invalid(part);
    if (part.isModel)
      fields.push({ ...part.span, value: body.toString('utf8', part.span.start, part.span.end) });
    at = part.next;
  }
  return invalid(`has more than ${PARTS_MAX} parts`);
}

const invalid = (why: string): FormScan => ({ kind: 'invalid', why: `the form ${why}` });

const closed = (body: Buffer, from: number, form: FormScan): FormScan =>
  /^\s*$/.test(body.toString('latin1', from, from + PART_HEADER_BYTES)) &&
  body.length - from <= PART_HEADER_BYTES
    ? form
    : invalid('goes on after its closing boundary');

interface Part {
  readonly isModel: boolean;
  readonly span: { readonly start: number; readonly end: number };
  /** Behind the boundary that ends the part. */
  readonly next: number;
}

/** The part whose boundary ends at `at`, or what is wrong with it. */
function partAt(body: Buffer, at: number, dashed: Buffer): Part | string {
  if (body.toString('latin1', at, at + 2) !== CRLF) return 'has its boundary inside another line';
  const headersEnd = body.subarray(at, at + PART_HEADER_BYTES).indexOf(CRLF + CRLF) + at;
  if (headersEnd < at) return `has a part whose headers do not end within ${PART_HEADER_BYTES} bytes`;
  const params = dispositionOf(body.toString('utf8', at + 2, headersEnd));
  const name = params?.get('name');
  if (params === undefined || name === undefined) return 'has a part whose headers do not name it plainly';
  const start = headersEnd + 4;
  const boundary = body.indexOf(dashed, start);
  if (boundary === -1) return 'ends before its closing boundary';
  const end = boundary - CRLF.length;
  if (end < start || body.toString('latin1', end, boundary) !== CRLF)
    return 'has its boundary inside another line';
  const isFile = params.has('filename') || params.has('filename*');
  const isModel = name.toLowerCase() === 'model' && !isFile;
  return { isModel, span: { start, end }, next: boundary + dashed.length };
}

const HEADER_LINE = new RegExp(`^(${TOKEN}):[ \\t]*([^\\r\\n\\0]*)$`);

/** The parameters of a part's only `content-disposition`; undefined for headers that can be read in two ways. */
function dispositionOf(headers: string): Params | undefined {
  const dispositions: string[] = [];
  for (const line of headers.split(CRLF)) {
    const [, name, value] = HEADER_LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) return undefined;
    if (name.toLowerCase() === 'content-disposition') dispositions.push(value);
  }
  const [disposition, second] = dispositions;
  const type = /^form-data(?=[ \t;])/i.exec(disposition ?? '');
  if (disposition === undefined || second !== undefined || type === null) return undefined;
  const params = paramsOf(disposition, type[0].length);
  const plain = params?.get('name')?.includes('\\') === false && !params.has('name*');
  return plain ? params : undefined;
}

/** A form part that holds `model`, to go before the first part of a form that has none. */
export const modelPart = (boundary: string, model: string): Buffer =>
  Buffer.from(
    `--${boundary}${CRLF}content-disposition: form-data; name="model"${CRLF}${CRLF}${model}${CRLF}`,
  );
