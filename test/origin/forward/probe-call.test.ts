import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Provider, startProvider } from '../../../origin/dev/provider.ts';
import { Pools } from '../../../origin/forward/pools.ts';
import { probeCall } from '../../../origin/forward/probe-call.ts';
import { probeRequest } from '../../../origin/health/probe-request.ts';
import { limitsSchema } from '../../../origin/limits.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { endpoint } from '../endpoints/endpoints.ts';
import { World } from '../health/world.ts';
import { policy } from '../policy/world.ts';

const TARGET = {
  endpoint: 'one',
  workload: 'chat',
  api: 'anthropic',
  model: 'claude-x',
  tokens: 16,
  tokensMember: 'max_tokens',
  intervalMs: 10_000,
} as const;

const PATH = ['usage', 'inference_geo'];

let upstream: Provider;
let pools: Pools;

beforeEach(async () => {
  upstream = await startProvider();
  pools = new Pools(limitsSchema.parse({}), new ManualClock());
});
afterEach(async () => {
  await pools.close();
  await upstream.close();
});

/** Probes of an endpoint that is what Anthropic's own host would be. */
function probes() {
  const host = endpoint({
    provider: 'anthropic',
    region: 'anthropic-us',
    country: 'US',
    base_url: 'https://api.anthropic.com',
  });
  const us = policy({ jurisdiction: 'us', allow: { countries: ['US'] } }, { primary: 'one' });
  return probeCall({
    pools,
    registry: new Map([['one', { ...host, regionBody: PATH, baseUrl: new URL(upstream.url) }]]),
    standpoints: () => [{ zone: 'us', policy: us, tenant: '', team: undefined }],
  });
}

describe('a probe of Anthropic’s own host', () => {
  it('is told to run in us like every call', async () => {
    const sent = await probes().send(
      TARGET,
      probeRequest(TARGET),
      new World().departure(),
      new AbortController().signal,
    );
    expect(sent).toMatchObject({ ok: true, value: { status: 200 } });
    expect(JSON.parse(upstream.received[0]?.body.toString() ?? '')).toMatchObject({ inference_geo: 'us' });
  });

  it('is evidence of where it ran by what its body says', () => {
    const misplaced = (geo: unknown) => probes().misplaced(TARGET, {}, { usage: { inference_geo: geo } });
    expect(misplaced('global')).toEqual({ region: 'global', source: 'response_body' });
    expect(misplaced(['us'])).toEqual({ region: 'unreadable', source: 'response_body' });
    for (const fine of ['us', 'not_available', null, undefined]) expect(misplaced(fine)).toBeUndefined();
  });
});
