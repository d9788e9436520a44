import type { Drill, Finding } from './drill.ts';

export type Verdict = 'held' | 'not_held' | 'not_exercised';

/** One thing that a game day is to show, and whether it did. */
export interface Check {
  readonly check: 'inside_graph' | 'first_token' | 'fail_closed';
  readonly verdict: Verdict;
  /** In words for the person who signs. */
  readonly words: string;
}

/** What is to be shown, for each whether it held; what never came up is not said to have held. */
export const checksOf = (drill: Drill): readonly Check[] => [
  insideGraph(drill),
  firstToken(drill),
  failClosed(drill),
];

function insideGraph({ receipts, outside, outsideWhy }: Drill): Check {
  const check = 'inside_graph';
  if (outside.count > 0) {
    const words = `attempts outside the graph: ${outside.count}, as ${outsideWhy ?? ''} (${idsOf(outside)})`;
    return { check, verdict: 'not_held', words };
  }
  return receipts.count === 0
    ? { check, verdict: 'not_exercised', words: 'no call was answered in this time' }
    : { check, verdict: 'held', words: `receipts: ${receipts.count}, all inside the graph` };
}

function firstToken({ streams, late, slowest }: Drill): Check {
  const check = 'first_token';
  if (slowest === undefined)
    return { check, verdict: 'not_exercised', words: 'no stream began in this time' };
  const most = `streams: ${streams.count}, the slowest began after ${slowest.ttft_ms} ms, the limit is ${slowest.max_ttft_ms} ms`;
  return late.count > 0
    ? { check, verdict: 'not_held', words: `began too late: ${late.count} of ${most} (${idsOf(late)})` }
    : { check, verdict: 'held', words: most };
}

function failClosed({ refused, leaked, outside }: Drill): Check {
  const check = 'fail_closed';
  if (leaked.count > 0) {
    const words = `answered by endpoints that were forced open: ${leaked.count} (${idsOf(leaked)})`;
    return { check, verdict: 'not_held', words };
  }
  if (refused.count === 0) {
    return { check, verdict: 'not_exercised', words: 'the whole graph was never down for a call' };
  }
  return outside.count > 0
    ? { check, verdict: 'not_held', words: `with endpoints down, calls went elsewhere (${idsOf(outside)})` }
    : {
        check,
        verdict: 'held',
        words: `refused: ${refused.count}, and nothing was sent elsewhere`,
      };
}

const idsOf = ({ request_ids }: Finding): string => request_ids.slice(0, 5).join(', ');
