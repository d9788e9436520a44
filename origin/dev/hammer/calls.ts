import type { Target } from './target.ts';

const messages = [{ role: 'user', content: 'Where is my parcel?' }];

/** The calls that are made in turn. */
export const KINDS = {
  chat: { path: '/v1/chat/completions', body: {} },
  chat_stream: { path: '/v1/chat/completions', body: { stream: true } },
  messages: { path: '/v1/messages', body: { max_tokens: 64 } },
  messages_stream: { path: '/v1/messages', body: { max_tokens: 64, stream: true } },
  unknown_workload: { path: '/v1/chat/completions', body: { model: 'no-such-workload' } },
  wrong_zone: { path: '/v1/chat/completions', body: {} },
} as const;

export type Kind = keyof typeof KINDS;

/** A call that has had its answer. */
export interface Made {
  readonly kind: Kind;
  readonly id: string;
  readonly status: number;
  readonly receipt: string | undefined;
}

/** Makes one call and reads its answer to the end. Rejects where there is none. */
export async function make(target: Target, kind: Kind, id: string): Promise<Made> {
  const { path, body } = KINDS[kind];
  const response = await target.ask(path, {
    id,
    body: { model: target.workload, messages, ...body },
    ...(kind === 'wrong_zone' && { zone: target.otherZone }),
  });
  await response.arrayBuffer();
  return {
    kind,
    id,
    status: response.status,
    receipt: response.headers.get('x-residency-receipt') ?? undefined,
  };
}
