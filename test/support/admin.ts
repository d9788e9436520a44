import { z } from 'zod';
import { type EndpointView, endpointListSchema } from '../../origin/control/endpoint-view.ts';
import { type Answered, answerTo, documentOf } from './calls.ts';
import { ADMIN_TOKEN, type TestZone } from './zone.ts';

const AUTHORIZED = { authorization: `Bearer ${ADMIN_TOKEN}` };

/** One call to the admin address of a zone's origin, with its token unless other headers are given. */
export const askAdmin = (
  { origin }: TestZone,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = AUTHORIZED,
): Promise<Answered> =>
  answerTo(origin.admin, path, {
    method,
    headers,
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });

/** What the admin address shows of an endpoint. */
export async function endpointOf(zone: TestZone, id: string): Promise<EndpointView> {
  const { endpoints } = endpointListSchema.parse(documentOf(await askAdmin(zone, 'GET', '/admin/endpoints')));
  const found = endpoints.find((endpoint) => endpoint.id === id);
  if (found === undefined) throw new Error(`no endpoint ${id} is shown`);
  return found;
}

const faultSchema = z.object({ error: z.object({ message: z.string() }) });

/** The words of an answer that says no. */
export const wordsOf = (answer: Answered): string => faultSchema.parse(documentOf(answer)).error.message;

/** One sample of a Prometheus text. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The samples of a Prometheus text (exposition format 0.0.4). */
export const samplesOf = (text: string): Sample[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [
        key,
        text,
      ]);
      return { name, labels: Object.fromEntries(pairs), value: Number(value) };
    });

/** The metrics of a zone's origin as text. */
export async function metricsText(zone: TestZone): Promise<string> {
  const { status, text } = await askAdmin(zone, 'GET', '/metrics');
  if (status !== 200) throw new Error(`/metrics answered ${status}`);
  return text;
}
