import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { decodeRecord, encodeRecord, RECORD_BYTES_MAX } from '../../../origin/audit/encode.ts';
import { aRecord } from '../../support/audit-records.ts';

describe('encoding a record', () => {
  it('gives the same bytes and leaf whatever the order of its members', () => {
    const record = aRecord('served', { output_tokens: null, latency_ms: 1.5, team: undefined });
    const reversed = Object.assign(
      {},
      ...Object.entries(record)
        .reverse()
        .map(([name, value]) => ({ [name]: value })),
    );
    const row = encodeRecord(record);
    expect(encodeRecord(reversed)).toEqual(row);
    expect(row.canonical).toBe(
      `{"at":"2026-01-01T00:00:00.000Z","id":"${record.id}","jurisdiction":"eu","kind":"served","latency_ms":1.5,"output_tokens":null,"request_id":"req-1","tenant":"acme","v":1}`,
    );
    expect(Buffer.from(row.leaf)).toEqual(createHash('sha256').update(`\0${row.canonical}`).digest());
  });

  it('is undone by decoding', () => {
    const record = aRecord('pending', { candidates: [{ endpoint: 'fra', rejected: 'circuit open' }] });
    expect(decodeRecord(encodeRecord(record))).toEqual(record);
  });

  it('throws on a member that no record has, and does not repeat what was in it', () => {
    const leaky = { ...aRecord('pending'), prompt: 'MARKER' };
    expect(() => encodeRecord(leaky)).toThrow(/^audit record breaks its schema: \(unrecognized_keys\)$/);
  });

  it('throws on text that is no Unicode, as two programs would write it down differently', () => {
    expect(() => encodeRecord(aRecord('pending', { workload: '\ud800' }))).toThrow(/surrogate/);
  });

  it('cuts the reasons of rejected candidates where a log entry could not hold them, and nothing else', () => {
    const rejected = `a reason ${'😀'.repeat(250)}`;
    const candidates = Array.from({ length: 64 }, (_, index) => ({ endpoint: `e${index}`, rejected }));
    const record = aRecord('refused', { candidates, selection_reason: 'kept' });
    const row = encodeRecord(record);
    expect(Buffer.byteLength(row.canonical)).toBeLessThanOrEqual(RECORD_BYTES_MAX);
    const read = decodeRecord(row);
    expect({ ...read, candidates: [] }).toEqual({ ...record, candidates: [] });
    expect(read.candidates).toHaveLength(64);
    expect(read.candidates?.every((candidate) => candidate.rejected.startsWith('a reason 😀'))).toBe(true);
  });
});
