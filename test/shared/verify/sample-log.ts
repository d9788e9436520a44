import { generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { canonicalJson } from '../../../shared/canonical.ts';
import { signCheckpoint } from '../../../shared/checkpoint.ts';
import { RECEIPT_TYPE, receiptClaims } from '../../../shared/receipt.ts';
import { type AuditRecord, RECORD_VERSION, type RecordKind } from '../../../shared/record.ts';
import type { Trust, TrustedKey } from '../../../shared/verify/trust.ts';
import { referenceLeaf, referenceRoot } from '../merkle/reference-tree.ts';

export const LOG = 'residency.example/eu';

/** When the log of the samples begins, in ms. Each record is one second later than the one before. */
export const BEGIN = Date.parse('2026-03-01T10:00:00.000Z');

export const iso = (ms: number): string => new Date(ms).toISOString();

export interface TestKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly trusted: TrustedKey;
}

export function testKey(kid: string, validity: { notBefore?: number; notAfter?: number } = {}): TestKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { kid, privateKey, trusted: { kid, publicKey, ...validity } };
}

export const POLICY = `policy: eu-support
version: 1.0.0
jurisdiction: eu
author: a.person
reviewer: b.person
allow: { countries: [EEA] }
workloads:
  support-chat: { class: large, failover: { primary: fra } }
tenants:
  agency-de: { allow: { countries: [DE] } }
`;

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A record id that counts up. */
export const idOf = (number: number): string =>
  `01M8RYG71TKKBNC2F33B4H${[3, 2, 1, 0].map((digit) => ALPHABET[Math.floor(number / 32 ** digit) % 32]).join('')}`;

/** Makes the records of a log one by one. */
export class SampleLog {
  readonly records: AuditRecord[] = [];
  readonly key: TestKey;
  policy = POLICY;

  constructor(key: TestKey = testKey('key-1')) {
    this.key = key;
  }

  get size(): number {
    return this.records.length;
  }

  add(kind: RecordKind, members: Partial<AuditRecord> = {}): AuditRecord {
    const record: AuditRecord = {
      v: RECORD_VERSION,
      kind,
      id: idOf(this.size),
      at: iso(BEGIN + this.size * 1_000),
      jurisdiction: 'eu',
      tenant: 'acme',
      request_id: `req-${this.size}`,
      ...members,
    };
    this.records.push(record);
    return record;
  }

  /** The records of one answered call: `pending`, `served`, `completed`. */
  call(requestId: string, members: Partial<AuditRecord> = {}): AuditRecord[] {
    const facts = { ...this.facts(requestId), ...members };
    const pending = this.add('pending', facts);
    const observed = {
      serving_region: 'eu-central-1',
      region_source: 'hostname',
      region_verdict: 'match',
    } as const;
    const answer = { ...facts, pending_id: pending.id, ...observed, ...members, upstream_status: 200 };
    return [pending, this.add('served', answer), this.add('completed', { ...answer, status: 200 })];
  }

  /** The records of a call that an endpoint answered with a verdict on the request. */
  verdict(requestId: string): void {
    const facts = this.facts(requestId);
    const pending = this.add('pending', facts);
    this.add('failed', { ...facts, pending_id: pending.id, code: 'upstream_rejected', status: 422 });
  }

  /** What the records of one call have in common. */
  facts(requestId: string) {
    return {
      request_id: requestId,
      attempt: 1,
      workload: 'support-chat',
      class: 'large',
      policy: 'eu-support',
      policy_version: /version: (\S+)/.exec(this.policy)?.[1] ?? '',
      policy_sha256: hash('sha256', this.policy),
      endpoint: 'fra',
      provider: 'bedrock',
      provider_region: 'eu-central-1',
      deployment: 'regional',
      model: 'vendor.large-20260101',
    } as const;
  }

  entry(place: number): string {
    return canonicalJson(this.records[place] ?? {});
  }

  leaves(size = this.size): Buffer[] {
    return this.records.slice(0, size).map((record) => referenceLeaf(Buffer.from(canonicalJson(record))));
  }

  /** A checkpoint of this size, signed when its last record was made unless another time is given. */
  checkpoint(size = this.size, at = BEGIN + size * 1_000, key = this.key): string {
    return signCheckpoint(
      { origin: LOG, size, root: referenceRoot(this.leaves(size)) },
      { name: LOG, privateKey: key.privateKey },
      Math.floor(at / 1_000),
    );
  }

  receipt(place: number, claims: object = {}, key = this.key): Promise<string> {
    const record = this.records[place];
    if (record === undefined) throw new RangeError('there is no such record');
    const leaf = referenceLeaf(Buffer.from(canonicalJson(record)));
    return signReceipt({ ...receiptClaims(record, leaf, LOG), ...claims }, key);
  }

  trust(more: Partial<Trust> = {}): Trust {
    return { keys: [this.key.trusted], witnesses: [], quorum: 0, ...more };
  }
}

export const signReceipt = (
  claims: object,
  { kid, privateKey }: TestKey,
  header: object = {},
): Promise<string> =>
  new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'EdDSA', typ: RECEIPT_TYPE, kid, ...header })
    .sign(privateKey);

/** A log of some calls, with a refusal, a local estimate, a failed attempt and an endpoint's verdict among them. */
export function busyLog(key?: TestKey): SampleLog {
  const log = new SampleLog(key);
  log.call('call-1');
  log.add('refused', { code: 'model_not_allowed', status: 403 });
  log.call('call-2');
  log.add('served', { request_id: 'estimate', workload: 'support-chat', actor: 'gateway', status: 200 });
  log.call('call-3', { tenant: 'agency-de' });
  log.verdict('call-4');
  log.call('call-5');
  log.add('control', { request_id: 'x', actor: 'someone', selection_reason: 'nothing' });
  log.call('call-6', { tenant: 'agency-de' });
  return log;
}
