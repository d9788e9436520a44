import { describe, expect, it } from 'vitest';
import { headersDown, headersUp } from '../../../origin/forward/headers.ts';
import { retryAfterSeconds } from '../../../origin/forward/retry-after.ts';
import { meaningOfStatus } from '../../../origin/forward/status.ts';

describe("what an endpoint's status means", () => {
  const kinds = (statuses: readonly number[]) => statuses.map((status) => meaningOfStatus(status).kind);

  it('is an answer from 200 to 299, and a verdict on the request for most of the 400s', () => {
    expect(new Set(kinds([200, 201, 202, 204, 299]))).toEqual(new Set(['accepted']));
    expect(new Set(kinds([400, 404, 409, 413, 415, 421, 422, 451, 499]))).toEqual(new Set(['rejected']));
  });

  it('is a failure of the endpoint where it speaks of our credential, of time, of load, or of elsewhere', () => {
    const failures = [
      101, 301, 302, 307, 308, 401, 402, 403, 408, 429, 500, 502, 503, 504, 520, 529, 599, 999,
    ];
    expect(new Set(kinds(failures))).toEqual(new Set(['failed']));
  });
});

describe('when an endpoint asks to be tried again', () => {
  const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);
  const seconds = (headers: Record<string, string>) => retryAfterSeconds(headers, NOW);

  it('is read from milliseconds, seconds and HTTP dates, the finest first', () => {
    expect(seconds({ 'retry-after-ms': '1500', 'retry-after': '9' })).toBe(2);
    expect(seconds({ 'x-ms-retry-after-ms': '2500', 'retry-after': '9' })).toBe(3);
    expect(seconds({ 'retry-after': '9' })).toBe(9);
    expect(seconds({ 'retry-after': 'Thursday, 01-Jan-26 12:00:20 GMT' })).toBe(20);
    expect(seconds({ 'retry-after': 'Thu, 01 Jan 2026 12:00:30 GMT' })).toBe(30);
  });

  it('is never sooner than a second nor later than a minute', () => {
    expect(seconds({ 'retry-after': '0' })).toBe(1);
    expect(seconds({ 'retry-after': '86400' })).toBe(60);
    expect(seconds({ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' })).toBe(1);
  });

  it('is not known from nonsense', () => {
    for (const value of ['', '-5', 'soon', '1e9', '0x10', '99999999999999999999']) {
      expect(seconds({ 'retry-after': value, 'retry-after-ms': value })).toBeUndefined();
    }
  });
});

describe('headers on their way', () => {
  it('go up from a short list, with the credential of the endpoint', () => {
    const caller = {
      accept: 'text/event-stream',
      'anthropic-version': '2023-06-01',
      authorization: 'Bearer rgk_acme_secret',
      'x-api-key': 'rgk_acme_secret',
      cookie: 'a=b',
      'content-encoding': 'gzip',
      'accept-encoding': 'gzip',
      'x-residency-assertion': 'jws',
      'x-forwarded-for': '192.0.2.1',
    };
    expect(headersUp(caller, { authorization: 'Bearer endpoint' })).toEqual({
      accept: 'text/event-stream',
      'anthropic-version': '2023-06-01',
      authorization: 'Bearer endpoint',
    });
  });

  it('come down from a short list, with an id of the endpoint under a name of ours', () => {
    const upstream = {
      'content-type': 'application/json',
      'content-length': '12',
      'x-request-id': 'req_1',
      'x-ratelimit-remaining-tokens': '5',
      'anthropic-ratelimit-requests-limit': '6',
      'set-cookie': ['a=1', 'b=2'],
      server: 'internal-host-7',
      'x-debug-echo': 'Bearer sk-endpoint',
      'x-residency-endpoint': 'forged',
      'x-ratelimit-reset': 'x'.repeat(2_000),
    };
    expect(headersDown(upstream, false)).toEqual({
      'content-type': 'application/json',
      'content-length': '12',
      'x-upstream-request-id': 'req_1',
      'x-ratelimit-remaining-tokens': '5',
      'anthropic-ratelimit-requests-limit': '6',
    });
  });

  it('come down without the length of a body that was decoded on its way', () => {
    expect(headersDown({ 'content-length': '12', 'content-encoding': 'gzip' }, true)).toEqual({});
  });
});
