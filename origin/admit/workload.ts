import type { Refusal } from '../../shared/errors.ts';
import type { Member } from '../../shared/json-members.ts';
import { err, ok, type Result } from '../../shared/result.ts';
import type { RouteBody } from '../../shared/routes.ts';
import { PIN_MEMBERS, type Pin } from '../endpoints/endpoint.ts';
import { readObject } from './json-object.ts';
import { boundaryOf, modelPart, scanForm } from './multipart.ts';
import { splice, withMembers } from './splice.ts';

/** Form of a workload's name; also bounds what of a request is compared with the policy. */
const WORKLOAD = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$/;

/** What a body says of its own handling, and how it is turned into the body for an endpoint. */
export interface ReadBody {
  readonly workload: string;
  /** As it was sent. */
  readonly bytes: Buffer;
  /** Whether the caller asked for an event stream. */
  readonly stream: boolean;
  /** The body with the endpoint's own model id in place of the workload, and its pin; no other byte differs. */
  withModel(model: string, pin?: Pin): Buffer;
  /** `body_invalid` where the body says something else than a pin, or says it twice. */
  against(pin: Pin): Refusal | undefined;
}

const QUOTE = 0x22;

/** Stands for a name that is too long to be one; no workload has it. */
const NO_NAME = '?';

const invalid = (why: string, param?: string) =>
  err<Refusal>({ code: 'body_invalid', why, ...(param !== undefined && { param }) });

/**
 * Reads the workload's name from a body: its `model`, or `named` (the header `x-workload`) where it has none.
 * Refusals: `body_invalid`, `workload_unknown`.
 */
export async function readWorkload(
  kind: RouteBody,
  contentType: string | undefined,
  body: Buffer,
  named: string | undefined,
): Promise<Result<ReadBody, Refusal>> {
  if (body.length === 0) return invalid('it is empty');
  return kind === 'multipart' ? fromForm(contentType, body, named) : await fromJson(body, named);
}

async function fromJson(body: Buffer, named: string | undefined): Promise<Result<ReadBody, Refusal>> {
  const object = await readObject(body, ['model', 'stream', ...PIN_MEMBERS]);
  if (object === undefined) return invalid('it is not a JSON object in UTF-8 without a byte-order mark');
  const all = (name: string) => object.members.filter((member) => member.name === name);
  const [model, duplicate] = all('model');
  if (duplicate) return invalid('it has more than one "model"', 'model');
  if (object.hasNamesake) return invalid('it has a member that differs from "model" in letter case', 'model');
  if (model && body[model.start] !== QUOTE) return invalid('"model" is not a string', 'model');
  return workload(model ? String(meant(model) ?? NO_NAME) : named, {
    bytes: body,
    stream: all('stream').at(-1)?.text === 'true',
    withModel: (own, pin) =>
      withMembers(body, object.isEmpty, [
        { name: 'model', value: own, at: model },
        ...(pin === undefined ? [] : [{ name: pin.member, value: pin.value, at: all(pin.member)[0] }]),
      ]),
    against: (pin) => contradiction(all(pin.member), pin),
  });
}

function contradiction([said, twice]: readonly Member[], { member: param, value }: Pin): Refusal | undefined {
  if (twice) return { code: 'body_invalid', why: `it has more than one "${param}"`, param };
  if (said === undefined || said.text === 'null' || meant(said) === value) return undefined;
  return { code: 'body_invalid', why: `"${param}" can only be "${value}" here: leave it out`, param };
}

/** A value with its escapes resolved; undefined where it is too long to be one that could agree. */
const meant = ({ text }: Member): unknown => (text === undefined ? undefined : JSON.parse(text));

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
  const { opening } = form;
  return workload(field?.value ?? named, {
    bytes: body,
    stream: false,
    withModel: (own) =>
      field === undefined
        ? splice(body, [{ start: opening, end: opening, bytes: modelPart(boundary, own) }])
        : splice(body, [{ start: field.start, end: field.end, bytes: Buffer.from(own) }]),
    // No provider that is told where to run takes forms.
    against: () => undefined,
  });
}

function workload(name: string | undefined, rest: Omit<ReadBody, 'workload'>): Result<ReadBody, Refusal> {
  if (name === undefined || name === '') return err({ code: 'workload_unknown', why: 'unnamed' });
  if (!WORKLOAD.test(name)) return err({ code: 'workload_unknown', why: 'not_in_policy' });
  return ok({ workload: name, ...rest });
}
