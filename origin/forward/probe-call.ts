import { err, ok, type Result } from '../../shared/result.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { headerReader } from '../endpoints/header-reader.ts';
import { regionPathsOf } from '../endpoints/region-evidence.ts';
import type { Departure } from '../health/departure.ts';
import type { ProbeCall, ProbeResponse } from '../health/probe.ts';
import type { ProbeTarget } from '../health/probe-plan.ts';
import type { ProbeRequest } from '../health/probe-request.ts';
import { weigh } from '../policy/evidence.ts';
import type { Standpoint } from '../policy/standing.ts';
import { regionsIn } from './body-regions.ts';
import { decode } from './decode.ts';
import { dispatch, faultOf } from './dispatch.ts';
import type { Pools } from './pools.ts';

export interface ProbeWorld {
  readonly pools: Pools;
  readonly registry: ReadonlyMap<string, Endpoint>;
  /** The policies that may ask for this probe, each for nobody in particular. */
  standpoints(target: ProbeTarget): readonly Standpoint[];
}

/** Probes over the same connections, with the same credential and under the same policies as calls. */
export function probeCall({ pools, registry, standpoints }: ProbeWorld): ProbeCall {
  return {
    send: async (target, request, departure, signal) => {
      const endpoint = registry.get(target.endpoint);
      if (endpoint === undefined) return err('it is not in the registry');
      return await send(endpoint, target, request, departure, pools, signal);
    },
    misplaced: (target, headers, json) => {
      const endpoint = registry.get(target.endpoint);
      if (endpoint === undefined) return undefined;
      const said = { header: headerReader(headers), body: regionsIn(json, regionPathsOf(endpoint)) };
      const found = standpoints(target).map((one) => weigh(endpoint, said, target.workload, one));
      const [first] = found;
      if (first === undefined || found.some(({ finding }) => finding !== 'misplaced')) return undefined;
      const { serving_region: region, region_source: source } = first.facts;
      return region === undefined || source === undefined ? undefined : { region, source };
    },
  };
}

async function send(
  endpoint: Endpoint,
  { model }: ProbeTarget,
  { route, body }: ProbeRequest,
  departure: Departure,
  pools: Pools,
  signal: AbortSignal,
): Promise<Result<ProbeResponse, string>> {
  const candidate = { endpoint, model, reason: 'probe' };
  const request = {
    route,
    headers: PROBE_HEADERS[endpoint.api],
    body: Buffer.from(pinned(body, route, endpoint)),
    departure,
  };
  try {
    const { statusCode: status, headers, body: raw } = await dispatch(candidate, request, pools, signal);
    const decoded = decode(headers, raw);
    raw.on('error', () => undefined);
    return decoded ? ok({ status, headers, body: decoded.body }) : err('its content-encoding is unknown');
  } catch (cause) {
    return err(faultOf(cause));
  }
}

/** A probe is told where to run, as every call is. Its body is our own, so it may be written anew. */
function pinned(body: string, route: ProbeRequest['route'], { pin }: Endpoint): string {
  if (pin === undefined || pin.route !== route) return body;
  return JSON.stringify({ ...JSON.parse(body), [pin.member]: pin.value });
}

const PROBE_HEADERS = {
  openai: { 'content-type': 'application/json' },
  anthropic: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
} as const;
