import { describe, expect, it } from 'vitest';
import { refusalsIn } from '../../../../origin/audit/reports/refusals.ts';
import { BEGIN, iso, SampleLog } from '../../../shared/verify/sample-log.ts';

describe('the list of integrations to mend', () => {
  it('groups by tenant and code, most calls first, with the newest as examples', () => {
    const log = new SampleLog();
    log.call('answered');
    for (let call = 0; call < 5; call += 1) {
      log.add('refused', { code: 'workload_unknown', route: '/v1/chat/completions' });
    }
    log.add('refused', { tenant: 'beta', code: 'workload_unknown' });
    log.add('refused', { tenant: undefined, code: 'key_missing', route: '/v1/models' });
    const [most, ...others] = refusalsIn(log.records);
    expect(most).toEqual({
      ...{ tenant: 'acme', code: 'workload_unknown', count: 5, workloads: [] },
      ...{ first: iso(BEGIN + 3_000), last: iso(BEGIN + 7_000), routes: ['/v1/chat/completions'] },
      request_ids: ['req-5', 'req-6', 'req-7'],
    });
    expect(others.map(({ tenant, code, count }) => [tenant, code, count])).toEqual([
      [null, 'key_missing', 1],
      ['beta', 'workload_unknown', 1],
    ]);
  });

  it('does not count a call that was forwarded and failed', () => {
    const log = new SampleLog();
    log.add('failed', { code: 'no_compliant_endpoint', endpoint: 'fra' });
    expect(refusalsIn(log.records)).toEqual([]);
  });
});
