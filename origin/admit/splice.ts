import type { Member } from '../../shared/json-members.ts';

/** What is put into a body in place of the bytes from `start` to `end`. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
}

/** The body with some of its bytes replaced, and every other as it was sent. Edits must not overlap. */
export function splice(body: Buffer, edits: readonly Edit[]): Buffer {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const { start, end, bytes } of edits.toSorted((one, other) => one.start - other.start)) {
    pieces.push(body.subarray(from, start), bytes);
    from = end;
  }
  return Buffer.concat([...pieces, body.subarray(from)]);
}

/**
 * A JSON object with members set: the value alone is replaced where the member is there, and the others are put
 * first.
 *
 * @param isEmpty whether the object has no member yet
 */
export function withMembers(
  body: Buffer,
  isEmpty: boolean,
  members: readonly { readonly name: string; readonly value: string; readonly at?: Member | undefined }[],
): Buffer {
  const brace = body.indexOf('{') + 1;
  const missing = members
    .filter(({ at }) => at === undefined)
    .map(({ name, value }) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  const comma = isEmpty || missing.length === 0 ? '' : ',';
  return splice(body, [
    { start: brace, end: brace, bytes: Buffer.from(missing.join(',') + comma) },
    ...members.flatMap(({ value, at }) =>
      at === undefined ? [] : [{ start: at.start, end: at.end, bytes: Buffer.from(JSON.stringify(value)) }],
    ),
  ]);
}
