import type { Refusal } from '../../shared/errors.ts';
import { MemberScanner } from '../../shared/json-members.ts';
import { err, ok, type Result } from '../../shared/result.ts';
import type { RouteBody } from '../../shared/routes.ts';
import { boundaryOf, modelPart, scanForm } from './multipart.ts';

/** Form of a workload's name; also bounds what of a request is compared with the policy. */
const WORKLOAD = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$/;

/** What a body says of its own handling, and how it is turned into the body for an endpoint. */
export interface ReadBody {
  readonly workload: string;
  /** Whether the caller asked for an event stream. */
  readonly stream: boolean;
  /** The body with the endpoint's own model id in place of the workload; no other byte differs. */
  withModel(model: string): Buffer;
}

const invalid = (why: string, param?: string) =>
  err<Refusal>({ code: 'body_invalid', why, ...(param !== undefined && { param }) });

/**
 * Reads the workload's name from a body: its `model`, or `named` (the header `x-workload`) where it has none.
 * Refusals: `body_invalid`, `workload_unknown`.
 */
export function readWorkload(
  kind: RouteBody,
  contentType: string | undefined,
  body: Buffer,
  named: string | undefined,
): Result<ReadBody, Refusal> {
  if (body.length === 0) return invalid('it is empty');
  return kind === 'multipart' ? fromForm(contentType, body, named) : fromJson(body, named);
}

function fromJson(body: Buffer, named: string | undefined): Result<ReadBody, Refusal> {
  const parsed = parseObject(body);
  if (!parsed.ok) return parsed;
  const scanner = new MemberScanner(['model'], 0);
  scanner.push(body);
  const [member, duplicate] = scanner.found;
  if (duplicate) return invalid('it has more than one "model"', 'model');
  const model = 'model' in parsed.value ? parsed.value.model : undefined;
  if (member && typeof model !== 'string') return invalid('"model" is not a string', 'model');
  const stream = parsed.value.stream === true;
  if (member && typeof model === 'string') {
    const { start, end } = member;
    return workload(model, stream, (own) => splice(body, start, end, Buffer.from(JSON.stringify(own))));
  }
  const brace = body.indexOf('{') + 1;
  const comma = Object.keys(parsed.value).length > 0 ? ',' : '';
  return workload(named, stream, (own) =>
    splice(body, brace, brace, Buffer.from(`"model":${JSON.stringify(own)}${comma}`)),
  );
}

function parseObject(body: Buffer): Result<Record<string, unknown>, Refusal> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    return invalid('it is not valid JSON in UTF-8 without a byte-order mark');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return invalid('it is not a JSON object');
  return ok({ ...value });
}

function fromForm(
  contentType: string | undefined,
  body: Buffer,
  named: string | undefined,
): Result<ReadBody, Refusal> {
  const boundary = boundaryOf(contentType);
  if (boundary === undefined) return invalid('this route takes multipart/form-data with a boundary');
  const form = scanForm(body, boundary);
  if (form.kind === 'invalid') return invalid(form.why);
  const [field, duplicate] = form.fields;
  if (duplicate) return invalid('the form has more than one "model"', 'model');
  if (field)
    return workload(field.value, false, (own) => splice(body, field.start, field.end, Buffer.from(own)));
  const { opening } = form;
  return workload(named, false, (own) => splice(body, opening, opening, modelPart(boundary, own)));
}

function workload(
  name: string | undefined,
  stream: boolean,
  withModel: ReadBody['withModel'],
): Result<ReadBody, Refusal> {
  if (name === undefined || name === '') return err({ code: 'workload_unknown', why: 'unnamed' });
  if (!WORKLOAD.test(name)) return err({ code: 'workload_unknown', why: 'not_in_policy' });
  return ok({ workload: name, stream, withModel });
}

const splice = (body: Buffer, start: number, end: number, middle: Buffer): Buffer =>
  Buffer.concat([body.subarray(0, start), middle, body.subarray(end)]);
