import type { HoldRow } from './retention-table.ts';
import { HOLDS_MAX, PRUNE_MAX } from './retention-table.ts';
import type { Statements } from './sqlite-statements.ts';
import { StoreError } from './store.ts';

interface Range {
  readonly first: number;
  last: number;
}

/** Empties the rows at these places, of which a `control` row of this id tells; triggers refuse what must stay. */
export function prune(sql: Statements, control: string, seqs: readonly number[]): void {
  if (seqs.length > PRUNE_MAX)
    throw new StoreError('rejected', `${PRUNE_MAX} places are pruned at once at most`);
  const allow = sql('INSERT INTO prunings (first, last, control) VALUES (?, ?, ?)');
  const empty = sql(
    `UPDATE records SET canonical = NULL, request_id = NULL, pending_id = NULL, tenant = NULL
    WHERE seq BETWEEN ? AND ?`,
  );
  for (const { first, last } of rangesOf(seqs)) {
    allow.run(first, last, control);
    empty.run(first, last);
  }
}

/** The places as ranges without gaps, in order; one that is named twice begins a range of its own. */
function rangesOf(seqs: readonly number[]): readonly Range[] {
  const ranges: Range[] = [];
  for (const seq of seqs.toSorted((one, other) => one - other)) {
    const range = ranges.at(-1);
    if (range !== undefined && seq === range.last + 1) range.last = seq;
    else ranges.push({ first: seq, last: seq });
  }
  return ranges;
}

/** Places a hold, or releases the one of that id. */
export function saveHold(sql: Statements, hold: HoldRow): void {
  const { id, tenant = null, from = null, to = null, by, why, at } = hold;
  const { releasedAt = null, releasedBy = null } = hold;
  const columns = [tenant, from, to, by, why, at, releasedAt, releasedBy];
  const { changes } = sql(
    `UPDATE holds SET tenant = ?, from_at = ?, to_at = ?, by = ?, why = ?, at = ?, released_at = ?, released_by = ?
    WHERE id = ?`,
  ).run(...columns, id);
  if (changes !== 0) return;
  sql(
    `INSERT INTO holds (tenant, from_at, to_at, by, why, at, released_at, released_by, id)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(...columns, id);
  if (Number(sql('SELECT count(*) AS holds FROM holds').get()?.holds) > HOLDS_MAX)
    throw new StoreError('rejected', `there are ${HOLDS_MAX} holds at most`);
}
