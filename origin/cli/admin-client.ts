import type { Command } from 'commander';
import { z } from 'zod';
import type { OriginAddress } from '../control/stack-file.ts';

/** How long an origin may take to answer, in ms. */
const ANSWER_MS = 10_000;

const faultSchema = z.object({ error: z.object({ message: z.string() }) });

/** Which origins a command speaks to. */
export interface AdminOptions {
  readonly data: string;
  readonly zone?: string;
  readonly admin?: string;
}

/** The options by which a person points a command at origins. */
export const withAdminOptions = (command: Command): Command =>
  command
    .option('--data <dir>', 'folder of the local stack', 'data')
    .option('--zone <zone>', 'only this zone of the local stack')
    .option('--admin <url>', 'admin address of an origin; its token is taken from RESIDENCY_ADMIN_TOKEN');

/**
 * Asks an origin's admin address, or with `order` posts that to it. Rejects, in words that say what to do, where
 * it cannot be reached or says no.
 */
export async function askAdmin<T>(
  { admin, token }: OriginAddress,
  path: string,
  schema: z.ZodType<T>,
  order?: object,
): Promise<T> {
  const response = await fetch(admin + path, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(order && { method: 'POST', body: JSON.stringify(order) }),
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch(() => undefined);
  if (response === undefined) throw new Error(`${admin} cannot be reached; is the origin running?`);
  if (response.status === 401) throw new Error(`${admin} does not accept the admin token`);
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return schema.parse(answer);
  const fault = faultSchema.safeParse(answer);
  throw new Error(fault.success ? fault.data.error.message : `${admin} answered ${response.status}`);
}
