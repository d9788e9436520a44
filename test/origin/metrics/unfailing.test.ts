import { describe, expect, it } from 'vitest';
import type { Counts } from '../../../origin/metrics/metrics.ts';
import { unfailing } from '../../../origin/metrics/unfailing.ts';
import { aRecord } from '../../support/audit-records.ts';

const broken = (): never => {
  throw new Error('the registry is broken');
};

const BROKEN: Counts = { recorded: broken, ended: broken, probed: broken, committed: broken, lost: broken };

describe('counts that fail', () => {
  it('throw at nobody, and are told of once', () => {
    const told: unknown[] = [];
    const counts = unfailing(BROKEN, (cause) => told.push(cause));
    for (let time = 0; time < 3; time += 1) {
      counts.recorded(aRecord('served'));
      counts.committed(1);
      counts.lost('served');
    }
    expect(told).toEqual([new Error('the registry is broken')]);
  });
});
