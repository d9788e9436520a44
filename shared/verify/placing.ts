import type { Manifest } from '../bundle.ts';
import type { SignedHead } from './heads.ts';
import { type ClaimedProofs, includes } from './proofs.ts';
import { aboutOf, type ClaimedLine, type ProvenRecord, readRecord } from './records.ts';
import type { About, Faults } from './report.ts';
import { Seats } from './seats.ts';
import type { ProvenLeaves } from './tree.ts';

/** What it takes to prove where a record stands. */
export interface Ground {
  readonly manifest: Manifest;
  readonly proofs: ClaimedProofs;
  /** The signed heads by size. */
  readonly heads: ReadonlyMap<number, SignedHead>;
  readonly faults: Faults;
}

/** A line whose place in the log is proven. */
interface Placed {
  readonly line: ClaimedLine;
  readonly place: number;
}

const BEHIND = 'the record stands after one that follows it in the log';
const TWICE = 'the record stands there twice';

/**
 * Places lines by the leaves of the window that make the signed roots, each of which must have its line. A line
 * that stands nowhere there may still have an inclusion proof of its own, so that none hides another.
 */
export function* placedByWindow(
  lines: Iterable<ClaimedLine>,
  window: ProvenLeaves,
  ground: Ground,
): Generator<Placed> {
  const { faults } = ground;
  const seats = new Seats(window);
  for (const line of lines) {
    const seat = seats.take(line.leaf);
    if (seat.kind === 'nowhere') {
      const place = byInclusion(aboutOf(line), line, ground);
      if (place === undefined) seats.suspect(line);
      else yield { line, place };
      continue;
    }
    const place = window.first + seat.index;
    if (seat.kind === 'taken') {
      faults.add('duplicate', TWICE, { ...aboutOf(line), place });
      continue;
    }
    if (seat.kind === 'behind') faults.add('moved', BEHIND, { ...aboutOf(line), place });
    yield { line, place };
  }
  seats.report(faults);
}

/** Places each line by its own inclusion proof, in the order of the log. */
export function* placedByInclusion(lines: Iterable<ClaimedLine>, ground: Ground): Generator<Placed> {
  const { faults, proofs } = ground;
  let last = -1;
  for (const line of lines) {
    const about = aboutOf(line);
    const place = byInclusion(about, line, ground);
    if (place === undefined) {
      if (about.record !== undefined && proofs.inclusions.of(about.record) !== undefined) {
        faults.add('forged', 'the record and its inclusion proof do not belong together', about);
      } else faults.add('missing', 'there is no inclusion proof of the record', about);
    } else if (place === last) faults.add('duplicate', TWICE, { ...about, place });
    else {
      if (place < last) faults.add('moved', BEHIND, { ...about, place });
      last = place;
      yield { line, place };
    }
  }
}

function byInclusion({ record }: About, { leaf }: ClaimedLine, ground: Ground): number | undefined {
  const proof = record === undefined ? undefined : ground.proofs.inclusions.of(record);
  if (proof === undefined || proof === 'malformed') return undefined;
  return includes(proof, leaf, ground.heads) ? proof.index : undefined;
}

/** How many places of the log were proven, and how many of them have lost their record after its retention. */
export interface Tally {
  proven: number;
  pruned: number;
}

/** The records of placed lines, each once. What they say is checked for its form, its zone and its tenant. */
export function* provenRecords(
  placed: Iterable<Placed>,
  { manifest, faults }: Ground,
  tally: Tally,
): Generator<ProvenRecord> {
  const ids = new Set<string>();
  for (const { line, place } of placed) {
    if (line.text === undefined) {
      tally.pruned += 1;
      continue;
    }
    tally.proven += 1;
    const read = readRecord(line.text);
    if (!read.ok) {
      faults.add('malformed', `the record at place ${place}: ${read.error}`, { ...aboutOf(line), place });
      continue;
    }
    const record = read.value;
    const about: About = { request_id: record.request_id, record: record.id, place };
    if (ids.has(record.id)) faults.add('duplicate', 'the log has two records of this id', about);
    ids.add(record.id);
    if (record.jurisdiction !== manifest.jurisdiction) {
      faults.add('other_log', `the record is of the zone ${record.jurisdiction}`, about);
    }
    if (manifest.tenant !== undefined && record.tenant !== manifest.tenant) {
      faults.add('other_log', `the record is not of the tenant ${manifest.tenant}`, about);
    }
    yield { place, leaf: line.leaf, record };
  }
}
