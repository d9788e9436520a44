import { recordLine } from '../audit/bundle/record-line.ts';
import { type LogEntry, recordPageSchema } from '../control/record-view.ts';
import type { OriginAddress } from '../control/stack-file.ts';
import { askAdmin } from './admin-client.ts';
import type { LineSink } from './line-sink.ts';
import { readCursor, WrongCursor, writeCursor } from './stream-cursor.ts';

/** Records that are asked for at once. */
const PAGE = 1_000;

/** Writes the records that follow on the cursor, and then moves it; gives how many places it went on. */
export async function forward(origin: OriginAddress, cursorFile: string, sink: LineSink): Promise<number> {
  const cursor = await readCursor(cursorFile);
  const path = `/admin/records?after=${cursor?.after ?? -1}&limit=${PAGE}`;
  const { log, records } = await askAdmin(origin, path, recordPageSchema);
  if (cursor !== undefined && cursor.log !== log) {
    throw new WrongCursor(`${cursorFile} is the cursor of ${cursor.log}, and this origin has ${log}`);
  }
  const last = records.at(-1);
  if (last === undefined) return 0;
  // Durable before the cursor moves: a crash in between has them come again, and never be left out.
  await sink.write(records.map(lineOf));
  await writeCursor(cursorFile, { log, after: last.seq });
  return records.length;
}

const lineOf = (entry: LogEntry): string => `${recordLine(entry)}\n`;
