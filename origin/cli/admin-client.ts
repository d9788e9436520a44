import type { Command } from 'commander';
import { z } from 'zod';
import { type OriginAddress, originAddresses, readStack } from '../control/stack-file.ts';
import { UsageFault } from '../usage-fault.ts';

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
 * The one origin that a command is about: a log, and so all that is made of it, is of one zone. In the local stack
 * it is the one of the tenant, where one is named.
 */
export async function oneOrigin(options: AdminOptions, tenant?: string): Promise<OriginAddress> {
  const zone = options.zone ?? (await zoneOf(options, tenant));
  const [origin, ...others] = await originAddresses({ ...options, ...(zone !== undefined && { zone }) });
  if (origin === undefined) throw new UsageFault('the local stack has no origin');
  if (others.length === 0) return origin;
  const zones = [origin, ...others].map(({ zone }) => zone).join(', ');
  throw new UsageFault(`each zone has a log of its own: name one with --zone (${zones} run here)`);
}

async function zoneOf(
  { admin, data }: AdminOptions,
  tenant: string | undefined,
): Promise<string | undefined> {
  if (admin !== undefined || tenant === undefined) return undefined;
  const { tenants } = await readStack(data);
  return tenants.find(({ id }) => id === tenant)?.jurisdiction;
}

/**
 * Asks an origin's admin address, or with `order` posts that to it. Rejects, in words that say what to do, where
 * it cannot be reached or says no.
 */
export async function askAdmin<T>(
  origin: OriginAddress,
  path: string,
  schema: z.ZodType<T>,
  order?: object,
): Promise<T> {
  const response = await answerOf(origin, path, order);
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return schema.parse(answer);
  const fault = faultSchema.safeParse(answer);
  throw new Error(fault.success ? fault.data.error.message : `${origin.admin} answered ${response.status}`);
}

/** What an origin's admin address serves as it is; undefined where there is no such thing. Rejects as `askAdmin`. */
export async function bytesFromAdmin(origin: OriginAddress, path: string): Promise<Uint8Array | undefined> {
  const response = await answerOf(origin, path);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (response.ok) return bytes;
  if (response.status === 404) return undefined;
  throw new Error(`${origin.admin} answered ${response.status}`);
}

async function answerOf({ admin, token }: OriginAddress, path: string, order?: object): Promise<Response> {
  const response = await fetch(admin + path, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(order && { method: 'POST', body: JSON.stringify(order) }),
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch(() => undefined);
  if (response === undefined) throw new Error(`${admin} cannot be reached; is the origin running?`);
  if (response.status === 401) throw new Error(`${admin} does not accept the admin token`);
  return response;
}
