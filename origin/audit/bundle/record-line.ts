import { encodeBase64 } from '../../../shared/base64.ts';
import type { PrunedLine } from '../../../shared/bundle.ts';
import { canonicalJson } from '../../../shared/canonical.ts';
import type { LogEntry } from './log-source.ts';

/** A place of the log as a line: the record in canonical form, or where its body is pruned what is left of it. */
export function recordLine({ leaf, record }: Pick<LogEntry, 'leaf' | 'record'>): string {
  if (record !== null) return canonicalJson(record);
  const pruned: PrunedLine = { leaf: encodeBase64(leaf), pruned: true };
  return JSON.stringify(pruned);
}
