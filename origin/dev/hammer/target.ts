import { z } from 'zod';
import { parseTrustedKeys, type Trust } from '../../../shared/verify/trust.ts';
import { readStack } from '../../control/stack-file.ts';
import { UsageFault } from '../../usage-fault.ts';

/** How long any one call may take, in ms. */
const CALL_MS = 30_000;

/** One zone of a running stack, as a tenant, an operator and an auditor see it. */
export interface Target {
  readonly zone: string;
  /** A zone that the tenant is not of. */
  readonly otherZone: string;
  /** Asks the edge with the tenant's key. */
  ask(
    path: string,
    options?: { readonly zone?: string; readonly id?: string; readonly body?: object },
  ): Promise<Response>;
  /** Asks the admin address. */
  askAdmin(path: string, method?: 'GET' | 'POST'): Promise<Response>;
  readonly trust: Trust;
  /** A workload that the tenant may call. */
  readonly workload: string;
}

const logSchema = z.object({ log: z.string(), vkey: z.string() });
const modelsSchema = z.object({ data: z.array(z.object({ id: z.string() })) });

/** The zone of the stack that runs with a data folder; its first one where none is named. */
export async function findTarget(data: string, named: string | undefined): Promise<Target> {
  const { edge, origins, tenants } = await readStack(data);
  const tenant = tenants.find(
    ({ key, jurisdiction }) => key !== undefined && (named ?? jurisdiction) === jurisdiction,
  );
  const origin = origins[tenant?.jurisdiction ?? ''];
  if (tenant?.key === undefined || origin === undefined)
    throw new UsageFault(`the stack knows the key of no tenant${named === undefined ? '' : ` in ${named}`}`);
  const { key, jurisdiction: zone } = tenant;
  const ask: Target['ask'] = (path, { zone: asked = zone, id, body } = {}) =>
    fetch(edge + path, {
      headers: {
        authorization: `Bearer ${key}`,
        'x-jurisdiction': asked,
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        ...(id !== undefined && { 'x-request-id': id }),
      },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(CALL_MS),
    });
  const askAdmin: Target['askAdmin'] = (path, method = 'GET') =>
    fetch(origin.admin + path, {
      method,
      headers: { authorization: `Bearer ${origin.admin_token}` },
      signal: AbortSignal.timeout(CALL_MS),
    });
  const { log, vkey } = logSchema.parse(await (await askAdmin('/admin/log')).json());
  const keys = parseTrustedKeys(vkey);
  if (!keys.ok) throw new Error(`the key of the log ${keys.error}`);
  const { data: models } = modelsSchema.parse(await (await ask('/v1/models')).json());
  const workload = models.find(({ id }) => id.includes('chat')) ?? models[0];
  if (workload === undefined) throw new UsageFault(`the tenant ${tenant.id} may call nothing`);
  const trust = { keys: keys.value, witnesses: [], quorum: 0, log };
  return { zone, otherZone: zone === 'us' ? 'eu' : 'us', ask, askAdmin, trust, workload: workload.id };
}
