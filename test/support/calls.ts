import { Agent, type Dispatcher, request } from 'undici';

/** A call as a test makes it: to the edge, or straight to an origin. */
export interface TestCall {
  readonly method?: Dispatcher.HttpMethod;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: NonNullable<Dispatcher.DispatchOptions['body']>;
  readonly signal?: AbortSignal;
}

/** An answer read to its end. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

const dispatcher = new Agent({ connections: 128 });

/** Makes one call; nothing is followed, tried again or given a header that the test did not name. */
export async function answerTo(base: string, path: string, call: TestCall = {}): Promise<Answered> {
  const { method = 'POST', ...rest } = call;
  const { statusCode, headers, body } = await request(base + path, { method, ...rest, dispatcher });
  return { status: statusCode, headers, text: await body.text() };
}

/** The document of an answer. */
export function documentOf({ text }: Answered): unknown {
  const document: unknown = JSON.parse(text);
  return document;
}

/** Headers with which a tenant's key is presented for a zone. */
export const presented = (zone: string, key: string): Record<string, string> => ({
  'x-jurisdiction': zone,
  authorization: `Bearer ${key}`,
});

/** A chat of one message, which both APIs take. */
export const chat = (model: string, content = 'hello', members: object = {}): string =>
  JSON.stringify({ model, max_tokens: 64, messages: [{ role: 'user', content }], ...members });
