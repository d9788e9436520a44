import type { AuditRecord } from '../../shared/record.ts';

interface Entry {
  readonly record: AuditRecord;
}

/**
 * Entries of several logs as one list by time. Within a log its own order holds, also where its clock was set
 * back: an entry then counts as of the latest time before it.
 */
export const byTime = <E extends Entry>(logs: readonly (readonly E[])[]): E[] =>
  logs
    .flatMap((entries) => {
      let latest = '';
      return entries.map((entry) => {
        if (entry.record.at > latest) latest = entry.record.at;
        return { entry, at: latest };
      });
    })
    .sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))
    .map(({ entry }) => entry);
