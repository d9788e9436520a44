import { describe, expect, it } from 'vitest';
import { begunWords, endedWords } from '../../../../origin/audit/game-day.ts';
import { Drill } from '../../../../origin/audit/reports/drill.ts';
import { checksOf } from '../../../../origin/audit/reports/gameday-checks.ts';
import type { AuditRecord } from '../../../../shared/record.ts';
import { BEGIN, iso, SampleLog } from '../../../shared/verify/sample-log.ts';
import { POLICY, proven } from './proven.ts';

const DUBLIN = { endpoint: 'dub', provider_region: 'eu-west-1', serving_region: 'eu-west-1' } as const;

class DrilledLog extends SampleLog {
  override policy = POLICY;

  begin(endpoint: string, until: number, tenant = 'acme'): AuditRecord {
    const selection_reason = begunWords(iso(BEGIN + until * 1_000), 'quarterly drill');
    return this.add('control', { tenant, endpoint, actor: 'ana', selection_reason });
  }

  end(endpoint: string): AuditRecord {
    return this.add('control', { endpoint, actor: 'ana', selection_reason: endedWords('enough') });
  }

  refused(id: string): AuditRecord {
    const { endpoint: _, provider_region: __, attempt: ___, ...facts } = this.facts(id);
    return this.add('refused', { ...facts, code: 'no_compliant_endpoint', status: 503 });
  }
}

const drillOf = async (log: SampleLog) => new Drill(await proven(log), 'acme');

const verdicts = async (log: SampleLog) =>
  Object.fromEntries(checksOf(await drillOf(log)).map(({ check, verdict }) => [check, verdict]));

const STREAM = { streamed: true, ttft_ms: 300 } as const;

describe('the report of a game day', () => {
  it('says that all held where a tenant failed over and was refused once nothing was left', async () => {
    const log = new DrilledLog();
    log.call('before');
    log.begin('fra', 100);
    log.call('over', { ...DUBLIN, ...STREAM });
    log.begin('dub', 100);
    log.refused('none-left');
    const drill = await drillOf(log);
    expect(await verdicts(log)).toEqual({ inside_graph: 'held', first_token: 'held', fail_closed: 'held' });
    expect([...drill.places.values()]).toEqual([{ region: 'eu-west-1', endpoint: 'dub', count: 1 }]);
    expect([...drill.graphs.values()]).toEqual([
      { workload: 'support-chat', policy: 'eu-support@2.0.0', endpoints: ['fra', 'dub'] },
    ]);
    expect(drill.refused.request_ids).toEqual(['none-left']);
  });

  it('takes in what came between begin and end, and no call of another tenant', async () => {
    const log = new DrilledLog();
    log.call('before');
    log.begin('fra', 100);
    log.call('within', DUBLIN);
    log.call('other', { tenant: 'beta' });
    log.end('fra');
    log.call('after');
    log.begin('fra', log.size + 4);
    log.call('again', DUBLIN);
    log.call('over-by-itself');
    const drill = await drillOf(log);
    expect(drill.receipts.request_ids).toEqual(['within', 'again']);
    expect(drill.days.all).toMatchObject([
      { endpoints: ['fra'], by: 'ana', why: 'quarterly drill', to: iso(BEGIN + 10_000) },
      { endpoints: ['fra'], to: iso(BEGIN + 18_000) },
    ]);
  });

  it('is not passed by what never came up', async () => {
    const log = new DrilledLog();
    log.begin('fra', 100);
    expect(await verdicts(log)).toEqual({
      ...{ inside_graph: 'not_exercised', first_token: 'not_exercised', fail_closed: 'not_exercised' },
    });
  });

  it.each([
    ['a region outside', { serving_region: 'us-east-1' }],
    ['an endpoint that the graph does not have', { endpoint: 'par', provider_region: 'eu-west-3' }],
  ])('says that a receipt from %s is not inside the graph', async (_, members) => {
    const log = new DrilledLog();
    log.begin('fra', 100);
    log.call('astray', { ...members });
    const [inside] = checksOf(await drillOf(log));
    expect(inside).toMatchObject({ verdict: 'not_held', words: expect.stringContaining('astray') });
  });

  it('says that a first token came too late', async () => {
    const log = new DrilledLog();
    log.begin('fra', 100);
    log.call('quick', { ...DUBLIN, ...STREAM });
    log.call('slow', { ...DUBLIN, streamed: true, ttft_ms: 801 });
    const words = expect.stringMatching(
      /began too late: 1 of streams: 2.*801 ms, the limit is 800 ms \(slow\)/,
    );
    expect(checksOf(await drillOf(log))[1]).toMatchObject({ verdict: 'not_held', words });
  });

  it('says that a call was answered by an endpoint that was forced open', async () => {
    const log = new DrilledLog();
    log.begin('dub', 100);
    log.begin('fra', 100);
    log.refused('refused');
    log.call('answered', DUBLIN);
    expect(checksOf(await drillOf(log))[2]).toMatchObject({
      ...{ check: 'fail_closed', verdict: 'not_held', words: expect.stringContaining('answered') },
    });
  });

  it('takes an answer for sound of an endpoint whose time is over, while another is still out', async () => {
    const log = new DrilledLog();
    log.begin('fra', 3);
    log.begin('dub', 100);
    log.refused('refused');
    log.call('back');
    expect(await verdicts(log)).toMatchObject({ inside_graph: 'held', fail_closed: 'held' });
  });

  it('says that with endpoints down an attempt went elsewhere', async () => {
    const log = new DrilledLog();
    log.begin('fra', 100);
    log.refused('refused');
    const abroad = { ...log.facts('abroad'), endpoint: 'iad', provider_region: 'us-east-1' };
    const pending = log.add('pending', abroad);
    log.add('failed', { ...abroad, pending_id: pending.id });
    expect(await verdicts(log)).toMatchObject({ inside_graph: 'not_held', fail_closed: 'not_held' });
  });

  it('looks at the whole window where no game day is on record', async () => {
    const log = new DrilledLog();
    log.call('plain');
    const drill = await drillOf(log);
    expect([drill.days.all, drill.receipts.count]).toEqual([[], 1]);
  });
});
