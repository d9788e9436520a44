import type { Facts, RecordMaker } from '../../origin/audit/records.ts';
import type { AuditRecord } from '../../shared/record.ts';

/** A record has no member for what was said, by whom it was paid for, or what an endpoint answered. */
export const noContent: readonly Partial<AuditRecord>[] = [
  // @ts-expect-error a prompt
  { prompt: 'hello' },
  // @ts-expect-error messages
  { messages: [] },
  // @ts-expect-error a completion
  { completion: 'hello' },
  // @ts-expect-error an endpoint's own error message
  { message: 'hello' },
  // @ts-expect-error a key
  { key: 'rgk_acme_secret' },
  // @ts-expect-error headers
  { headers: {} },
  // @ts-expect-error a path with its query
  { path: '/v1/messages?q=hello' },
  // @ts-expect-error a user agent
  { user_agent: 'curl' },
  // @ts-expect-error a trace id
  { traceparent: '00-4bf9' },
];

/** Its closed members take their own values only. */
export const closedMembers: readonly Partial<AuditRecord>[] = [
  // @ts-expect-error a kind that is none
  { kind: 'cached' },
  // @ts-expect-error a code outside the list
  { code: 'teapot' },
  // @ts-expect-error a country is not a zone
  { jurisdiction: 'de' },
  // @ts-expect-error a verdict that is none
  { region_verdict: 'probably' },
  // @ts-expect-error a reason with a member more
  { candidates: [{ endpoint: 'fra', rejected: 'open', body: 'hello' }] },
];

export function makeRecords(maker: RecordMaker, facts: Facts): readonly AuditRecord[] {
  return [
    maker.make('refused', { jurisdiction: 'eu', code: 'key_invalid' }),
    // @ts-expect-error a record without its zone
    maker.make('refused', { code: 'key_invalid' }),
    // @ts-expect-error a caller's own text
    maker.make('refused', { ...facts, prompt: 'hello' }),
    // @ts-expect-error its identity is not for the maker's caller to choose
    maker.make('refused', { ...facts, id: '01ARZ3NDEKTSV4RRFFQ69G5FAV' }),
  ];
}
