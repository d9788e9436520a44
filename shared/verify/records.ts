import { decodeHash } from '../base64.ts';
import { prunedLineSchema } from '../bundle.ts';
import { canonicalJson, isCanonicalJson } from '../canonical.ts';
import { leafHash } from '../merkle/hash.ts';
import { type AuditRecord, recordSchema } from '../record.ts';
import { err, ok, type Result } from '../result.ts';
import { linesOf, type NamedFile, strictJson } from './lines.ts';
import { LeafList } from './proofs.ts';
import { type About, Faults } from './report.ts';

/** A record that stands in the log at this place, as a signed root shows. */
export interface ProvenRecord {
  readonly place: number;
  readonly leaf: Uint8Array;
  readonly record: AuditRecord;
}

/** A line of `records.jsonl`, of which nothing is known but its bytes. */
export interface ClaimedLine {
  readonly leaf: Uint8Array;
  /** Missing where the record was dropped after its retention. */
  readonly text?: string;
}

/** Reads the lines of `records.jsonl`. @param known their leaves, where they were read before */
export function* claimedLines(file: NamedFile, faults: Faults, known?: LeafList): Generator<ClaimedLine> {
  let index = 0;
  for (const { number, text } of linesOf(file, faults)) {
    // No record begins so, as its members are in the order of their names.
    if (!text.startsWith('{"leaf":')) yield { leaf: known?.at(index) ?? leafHash(text), text };
    else {
      const leaf = decodeHash(prunedLineSchema.safeParse(strictJson(text)).data?.leaf ?? '');
      if (leaf !== undefined) yield { leaf };
      else {
        faults.add('malformed', `${file.name} line ${number}: is neither a record nor a dropped one`);
        continue;
      }
    }
    index += 1;
  }
}

/** The leaf hash of each line. What is wrong with lines is found when they are read for what they say. */
export function leavesOf(file: NamedFile): LeafList {
  const leaves = new LeafList();
  for (const { leaf } of claimedLines(file, new Faults())) leaves.push(leaf);
  return leaves;
}

/** The record of a line in its one canonical form (RFC 8785), or what is wrong with it. */
export function readRecord(text: string): Result<AuditRecord, string> {
  const json = jsonOf(text);
  const parsed = recordSchema.safeParse(json);
  if (!parsed.success || typeof json !== 'object' || json === null) {
    const where = parsed.error?.issues[0]?.path.join('.') ?? '';
    return err(`it is not of the form of a record${where === '' ? '' : ` (${where})`}`);
  }
  return isCanonicalJson(json, text) ? ok(parsed.data) : err('it is not in canonical form');
}

/** The canonical form of a record; undefined where some text of it is no Unicode and so has none. */
export function canonicalOf(record: AuditRecord): string | undefined {
  try {
    return canonicalJson(record);
  } catch {
    return undefined;
  }
}

const identitySchema = recordSchema.pick({ request_id: true, id: true }).partial().strip();

/** What an unproven line says of itself. */
export function aboutOf({ text = '' }: ClaimedLine): About {
  if (!text.startsWith('{')) return {};
  const parsed = identitySchema.safeParse(jsonOf(text));
  return parsed.success ? { request_id: parsed.data.request_id, record: parsed.data.id } : {};
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
