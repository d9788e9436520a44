import { describe, expect, it } from 'vitest';
import { type AttemptEnd, ORDINARY_REQUEST_BYTES, outcomeOf } from '../../../origin/health/outcome.ts';

type Answered = Extract<AttemptEnd, { kind: 'answered' }>;

const answered = (status: number, more: Partial<Answered> = {}): AttemptEnd => ({
  kind: 'answered',
  status,
  headers: {},
  maxTtftMs: 4_000,
  requestBytes: 100,
  ...more,
});

describe('what an attempt tells about its endpoint', () => {
  it.each([
    ['success', [200, 201, 204]],
    ['failure', [302, 307, 308, 408, 500, 502, 503, 504, 529, 599]],
    ['credential', [401, 402, 403]],
    ['busy', [429]],
    ['neutral', [400, 404, 409, 413, 415, 422, 451]],
  ])('is %s for %j', (kind, statuses) => {
    for (const status of statuses) expect(outcomeOf(answered(status), 0).kind).toBe(kind);
  });

  it('is a failure where the connection broke, and nothing where the caller hung up', () => {
    expect(outcomeOf({ kind: 'broken', why: 'no answer' }, 0)).toEqual({ kind: 'failure', why: 'no answer' });
    expect(outcomeOf({ kind: 'gone' }, 0)).toEqual({ kind: 'neutral' });
  });

  it('is slow where the first token came after max_ttft_ms, and not at it', () => {
    expect(outcomeOf(answered(200, { ttftMs: 4_000 }), 0)).toEqual({ kind: 'success', ttftMs: 4_000 });
    expect(outcomeOf(answered(200, { ttftMs: 4_001 }), 0)).toEqual({
      kind: 'slow',
      ttftMs: 4_001,
      maxTtftMs: 4_000,
    });
  });

  it('does not let a caller take an endpoint from all others with a prompt of extraordinary length', () => {
    const long = answered(200, { ttftMs: 60_000, requestBytes: ORDINARY_REQUEST_BYTES + 1 });
    expect(outcomeOf(long, 0)).toEqual({ kind: 'success' });
  });

  it('has the cool-down that a busy endpoint asks for, and a short one where it asks for none', () => {
    expect(outcomeOf(answered(429, { headers: { 'retry-after': '9' } }), 0)).toMatchObject({
      coolDownMs: 9_000,
    });
    expect(outcomeOf(answered(429), 0)).toMatchObject({ coolDownMs: 1_000 });
  });
});
