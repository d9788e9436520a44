import { leafHash } from '../../../shared/merkle/hash.ts';
import { verifyBundle } from '../../../shared/verify/verify.ts';
import { SampleLog } from '../../shared/verify/sample-log.ts';
import { bundleOf } from '../log-bundle.ts';
import type { ByScale, Scenario } from '../scenario.ts';
import { speedFigures, speedOf } from '../speed.ts';

/** Calls, each with its announcement and its end. */
const CALLS: ByScale = { tiny: 100, quick: 20_000, full: 100_000 };

/** Receipts have a scenario of their own, so no call of this log came to an answer. */
function unansweredLog(calls: number): SampleLog {
  const log = new SampleLog();
  const {
    v: _,
    kind: __,
    id: ___,
    at: ____,
    ...facts
  } = new SampleLog().call('pattern')[0] ?? log.add('pending');
  for (let call = 0; call < calls; call += 1) {
    const own = { ...facts, request_id: `call-${call}` };
    const pending = log.add('pending', own);
    log.add('failed', { ...own, pending_id: pending.id, upstream_status: 503, latency_ms: 12 });
  }
  return log;
}

export const verifyRecords: Scenario = {
  name: 'verify-records',
  measures: 'verifying the bundle of a whole log, beside parsing and hashing its lines and nothing else',
  figures: speedFigures('records'),
  stage: async (scale) => {
    const log = unansweredLog(CALLS[scale]);
    const { files, entries } = await bundleOf(log);
    const trust = log.trust();
    const verify = () => {
      const { ok, records } = verifyBundle(files, trust, { strict: true });
      if (!ok || records.proven !== log.size) throw new Error('the bundle was not proven');
    };
    const read = () => {
      for (const entry of entries) {
        JSON.parse(entry);
        leafHash(entry);
      }
    };
    return {
      subjects: [speedOf('JSON.parse + SHA-256', log.size, read), speedOf('verifyBundle', log.size, verify)],
    };
  },
};
