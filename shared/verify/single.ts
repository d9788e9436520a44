import { z } from 'zod';
import { decodeBase64url } from '../base64.ts';
import { proofHashes } from '../bundle.ts';
import { leafHash, sameBytes } from '../merkle/hash.ts';
import { verifyInclusion } from '../merkle/verify-proof.ts';
import { recordSchema } from '../record.ts';
import { isRequestId } from '../request-id.ts';
import { parseTlogProof } from '../tlog-proof.ts';
import { checkWitnesses, openHead, reported, type SignedHead } from './heads.ts';
import { receiptOpener } from './jws.ts';
import { receiptOf } from './receipt-claims.ts';
import { canonicalOf } from './records.ts';
import { type About, Faults, type ProvenReceipt, type Report } from './report.ts';
import { checkpointKeys, jsonOf, type Trust } from './trust.ts';

/** One receipt by itself: who signed it and when. Where its record stands takes a proof, and whether it may a policy. */
export function verifyReceipt(jws: string, trust: Trust): Report {
  const faults = new Faults();
  const opened = receiptOpener(trust.keys)(jws.trim());
  if (!opened.ok) {
    faults.add(opened.error.fault, opened.error.reason);
    return report('receipt', faults);
  }
  const { iss, iat, rid, sub, jur, rec, leaf: _, ...rest } = opened.value;
  if (trust.log !== undefined && iss !== trust.log) faults.add('other_log', `it is of the log ${iss}`);
  const at = new Date(iat * 1000).toISOString();
  const receipt = { request_id: rid, tenant: sub, jurisdiction: jur, ...rest, record: rec, at };
  return { ...report('receipt', faults), log: iss, receipts: faults.ok(false) ? [receipt] : [] };
}

/** The checkpoint at the end of a proof or beside it, in the name of the log that it says it is of. */
function opened(note: string, trust: Trust, which: string, faults: Faults): SignedHead | undefined {
  // The first line is believed once a key of the log of that name has signed it.
  const log = trust.log ?? note.slice(0, note.indexOf('\n'));
  return openHead(note, checkpointKeys(trust, log), which, faults);
}

/** A C2SP `tlog-proof`. @param entry the record that it is about, in canonical form */
export function verifyProof(text: string, trust: Trust, entry?: string): Report {
  const faults = new Faults();
  const proof = parseTlogProof(text);
  if (!proof.ok) {
    faults.add('malformed', proof.error);
    return report('proof', faults);
  }
  const { index, hashes, checkpoint } = proof.value;
  const head = opened(checkpoint, trust, 'its checkpoint', faults);
  checkWitnesses(head, trust.quorum, faults);
  if (entry === undefined) {
    faults.add('missing', 'the record that the proof is about: without it only the checkpoint is verified');
  } else if (head !== undefined) {
    const leaf = leafHash(entry.replace(/\n$/, ''));
    if (!verifyInclusion({ index, size: head.size, leaf, root: head.root, proof: hashes })) {
      faults.add('forged', `the record does not stand at place ${index} of the log`, { place: index });
    }
  }
  return report('proof', faults, head, faults.ok(false) ? 1 : 0);
}

/** The answer of `GET /v1/receipts/<request-id>`, as far as it is needed. */
const answerSchema = z.looseObject({
  request_id: z.string().refine(isRequestId),
  checkpoint: z.string().nullable(),
  records: z.array(
    z.looseObject({
      seq: z.int().nonnegative(),
      leaf: z.string(),
      /** Null where its body has been pruned: then the leaf alone stands for it. */
      record: recordSchema.nullable(),
      proof: z.strictObject({ tree_size: z.int(), index: z.int(), hashes: proofHashes }).nullable(),
      tlog_proof: z.string().nullable(),
    }),
  ),
});

/** The answer of `GET /v1/receipts/<request-id>`: each record of one call, and where it stands in the log. */
export function verifyAnswer(text: string, trust: Trust): Report {
  const faults = new Faults();
  const answer = answerSchema.safeParse(jsonOf(text));
  if (!answer.success) {
    const where = answer.error.issues[0]?.path.join('.') ?? '';
    faults.add('malformed', `it is not an answer of /v1/receipts/<request-id> (${where})`);
    return report('call', faults);
  }
  const { request_id, checkpoint, records } = answer.data;
  const head = checkpoint === null ? undefined : opened(checkpoint, trust, 'its checkpoint', faults);
  checkWitnesses(head, trust.quorum, faults);
  const tally = { proven: 0, pruned: 0 };
  const receipts: ProvenReceipt[] = [];
  for (const { seq, leaf, record, proof, tlog_proof } of records) {
    const about: About = { request_id: record?.request_id, record: record?.id, place: seq };
    const canonical = record === null ? undefined : (canonicalOf(record) ?? '');
    const claimed = decodeBase64url(leaf) ?? new Uint8Array();
    const own = canonical === undefined ? claimed : leafHash(canonical);
    if (record !== null && record.request_id !== request_id)
      faults.add('moved', 'the record is of another call', about);
    if (!sameBytes(claimed, own)) {
      faults.add('forged', 'its leaf is not the hash of the record', about);
    } else if (proof === null || head === undefined) {
      faults.add('missing', 'no checkpoint covers the record yet: ask again in a minute', about);
    } else if (
      proof.tree_size !== head.size ||
      proof.index !== seq ||
      !verifyInclusion({ index: seq, size: head.size, leaf: own, root: head.root, proof: proof.hashes })
    ) {
      faults.add('forged', 'its proof does not hold', about);
    } else if (record === null) {
      tally.pruned += 1;
    } else {
      tally.proven += 1;
      if (record.kind === 'served' && record.endpoint !== undefined) receipts.push(receiptOf(record, seq));
    }
    if (tlog_proof === null || canonical === undefined) continue;
    for (const fault of verifyProof(tlog_proof, trust, canonical).faults) {
      faults.add(fault.fault, `its tlog-proof: ${fault.reason}`, about);
    }
  }
  return { ...report('call', faults, head), records: tally, receipts };
}

const report = (scope: Report['scope'], faults: Faults, head?: SignedHead, proven = 0): Report => ({
  ok: faults.ok(true),
  strict: true,
  scope,
  checkpoints: head === undefined ? { count: 0 } : { count: 1, first: reported(head), last: reported(head) },
  records: { proven, pruned: 0 },
  receipts: [],
  faults: faults.listed,
  more_faults: faults.more,
});
