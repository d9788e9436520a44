import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { UsageFault } from '../usage-fault.ts';

/** `stack.json`: how other programs find their way into a running local stack. */
export const stackFileSchema = z.object({
  edge: z.string(),
  origins: z.record(z.string(), z.object({ url: z.string(), admin: z.string(), admin_token: z.string() })),
  tenants: z.array(z.object({ id: z.string(), jurisdiction: z.string(), key: z.string().optional() })),
  /** Control addresses of the programmable providers, by endpoint; empty where real endpoints are used. */
  providers: z.record(z.string(), z.string()).default({}),
});

export type StackFile = z.infer<typeof stackFileSchema>;

const stackPath = (data: string): string => join(data, 'stack.json');

/** The stack that runs with this data folder. */
export async function readStack(data: string): Promise<StackFile> {
  const text = await readFile(stackPath(data), 'utf8').catch(() => undefined);
  if (text === undefined) throw new UsageFault(`no local stack runs in ${data}: start one with "npm start"`);
  return stackFileSchema.parse(JSON.parse(text));
}

/** Tells other programs that the stack is ready; the file appears whole. It holds plain keys, so only its owner reads it. */
export async function writeStack(data: string, stack: StackFile): Promise<void> {
  const path = stackPath(data);
  await writeFile(`${path}.new`, `${JSON.stringify(stack, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** So that nobody takes the file of an earlier run for a stack that is ready. */
export const forgetStack = (data: string): Promise<void> => rm(stackPath(data), { force: true });

export interface OriginAddress {
  readonly admin: string;
  readonly token: string;
  /** Of the local stack, which has one origin for each. */
  readonly zone?: string;
}

/** The admin addresses that a command was pointed at: one origin, or those of the local stack. */
export async function originAddresses(options: {
  readonly data: string;
  readonly zone?: string;
  readonly admin?: string;
}): Promise<readonly OriginAddress[]> {
  if (options.admin !== undefined) {
    const token = process.env.RESIDENCY_ADMIN_TOKEN;
    if (token === undefined)
      throw new UsageFault('set RESIDENCY_ADMIN_TOKEN to the admin token of that origin');
    return [{ admin: options.admin.replace(/\/$/, ''), token }];
  }
  const { origins } = await readStack(options.data);
  const chosen = Object.entries(origins).filter(
    ([zone]) => options.zone === undefined || options.zone === zone,
  );
  if (chosen.length === 0) throw new UsageFault(`the local stack has no zone ${options.zone}`);
  return chosen.map(([zone, { admin, admin_token }]) => ({ admin, token: admin_token, zone }));
}
