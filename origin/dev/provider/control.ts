import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Provider } from '../provider.ts';
import { readBody } from './body.ts';
import { PAUSE_POINTS } from './gates.ts';
import { orderOptionsSchema, orderSchema } from './order.ts';

/** Everything under this path is the provider's own, and counts as no request to a model. */
export const CONTROL_PREFIX = '/_control/';

/** Bytes of a control body: an order may hold an answer's text. */
const MAX_CONTROL_BYTES = 1024 * 1024;

const orderBody = z.strictObject({ order: orderSchema, options: orderOptionsSchema.default({}) });
const releaseBody = z.strictObject({ point: z.enum(PAUSE_POINTS), times: z.int().positive().optional() });

/**
 * The provider's controls for another process: `POST /_control/order` with `{"order":{…},"options":{…}}`,
 * `POST /_control/release` with `{"point","times"}`, `POST /_control/reset`, `GET /_control/received`.
 */
export async function control(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request, MAX_CONTROL_BYTES);
  const command = `${request.method} ${request.url?.slice(CONTROL_PREFIX.length)}`;
  const { status, document } = perform(provider, command, body);
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(document)}\n`);
}

interface Outcome {
  readonly status: number;
  readonly document: object;
}

const DONE: Outcome = { status: 200, document: {} };

function perform(provider: Provider, command: string, body: Buffer | undefined): Outcome {
  if (body === undefined) return { status: 413, document: { error: `over ${MAX_CONTROL_BYTES} bytes` } };
  switch (command) {
    case 'POST order':
      return obey(orderBody, body, ({ order, options }) => provider.order(order, options));
    case 'POST release':
      return obey(releaseBody, body, ({ point, times }) => provider.release(point, times));
    case 'POST reset':
      provider.reset();
      return DONE;
    case 'GET received':
      return { status: 200, document: summary(provider) };
    default:
      return { status: 404, document: { error: 'no such control' } };
  }
}

function obey<T>(schema: z.ZodType<T>, body: Buffer, act: (value: T) => void): Outcome {
  const parsed = schema.safeParse(documentOf(body));
  if (!parsed.success) return { status: 400, document: { error: z.prettifyError(parsed.error) } };
  try {
    act(parsed.data);
    return DONE;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { status: 409, document: { error: error.message } };
  }
}

function documentOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Counts, paths and models only: what a demonstration shows, and nothing of what was said. */
const summary = ({ received, receivedTotal, openConnections }: Provider): object => ({
  total: receivedTotal,
  open_connections: openConnections,
  requests: received.map(({ index, method, path, model, outcome }) => ({
    index,
    method,
    path,
    model: model ?? null,
    outcome: outcome ?? 'open',
  })),
});
