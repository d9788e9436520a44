import { describe, expect, it } from 'vitest';
import { headersDown, headersUp } from '../../../origin/forward/headers.ts';
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
