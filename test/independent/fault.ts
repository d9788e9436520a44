/** What an auditor can hold against a log, a proof or a receipt. */
export type FaultKind =
  | 'malformed'
  | 'unsigned'
  | 'forged'
  | 'other_log'
  | 'missing'
  | 'wrong_hash'
  | 'not_canonical'
  | 'not_included'
  | 'inconsistent'
  | 'too_large';

export class Fault extends Error {
  readonly kind: FaultKind;

  constructor(kind: FaultKind, message: string) {
    super(`${kind}: ${message}`);
    this.kind = kind;
  }
}
