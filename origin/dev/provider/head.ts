import type { OutgoingHttpHeaders } from 'node:http';
import { echoOf } from './echo.ts';
import type { Exchange } from './exchange.ts';

/** Which header reports the region, and what it says. */
export interface RegionReport {
  readonly header: string;
  readonly value: string;
}

/** The header that Azure reports its region in; used where a provider is given none. */
const REGION_HEADER = 'x-ms-region';

/** The headers of an answer: the usual ones of the API, then the region, then whatever the order says. */
export function headersOf(
  exchange: Exchange,
  contentType: string,
  region: RegionReport | undefined,
): OutgoingHttpHeaders {
  const { order, api, arrival } = exchange;
  const reported = order.region === undefined ? region?.value : order.region;
  const echo = echoOf(exchange);
  return {
    ...(contentType !== '' && { 'content-type': order.contentType ?? contentType }),
    ...(order.encoding !== undefined && { 'content-encoding': order.encoding }),
    ...usual(api, arrival.index),
    ...(reported !== undefined && reported !== null && { [region?.header ?? REGION_HEADER]: reported }),
    ...(echo !== '' && { 'x-debug-echo': headerSafe(echo) }),
    ...(order.redirect !== undefined && { location: order.redirect.location }),
    ...(order.connection === 'close_announced' && { connection: 'close' }),
    ...lowerCased(order.headers ?? {}),
  };
}

const usual = (api: Exchange['api'], index: number): OutgoingHttpHeaders =>
  api === 'anthropic'
    ? {
        'request-id': `req_${index}`,
        'anthropic-ratelimit-requests-limit': '4000',
        'anthropic-ratelimit-requests-remaining': '3999',
      }
    : {
        'x-request-id': `req_${index}`,
        'openai-processing-ms': '7',
        'x-ratelimit-limit-requests': '10000',
        'x-ratelimit-remaining-requests': '9999',
      };

const lowerCased = (headers: OutgoingHttpHeaders): OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const headerSafe = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').slice(0, 4096);
