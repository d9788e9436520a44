import { z } from 'zod';
import { TENANT_ID } from '../../shared/gateway-key.ts';
import { orderSchema } from './endpoint-orders.ts';

/** Endpoints that one order names at most. */
const ENDPOINTS_MAX = 64;

const { by, why, minutes } = orderSchema.shape;
const tenant = z.string().regex(TENANT_ID, 'must be a tenant id');

/** Forces these endpoints open for one tenant, for so many minutes. */
export const gameDaySchema = z.strictObject({
  tenant,
  endpoints: z.array(z.string()).min(1).max(ENDPOINTS_MAX),
  minutes: minutes.unwrap(),
  by,
  why,
});

export type GameDayOrder = z.infer<typeof gameDaySchema>;

/** Ends all that is forced open for a tenant. */
export const gameDayEndSchema = z.strictObject({ tenant, by, why });

export type GameDayEnd = z.infer<typeof gameDayEndSchema>;

/** The answer of each route under `/admin/gamedays`: what is forced open now. */
export const gameDayListSchema = z.object({
  jurisdiction: z.string(),
  game_days: z.array(
    z.object({
      tenant: z.string(),
      endpoint: z.string(),
      since: z.iso.datetime({ precision: 3 }),
      until: z.iso.datetime({ precision: 3 }),
      by: z.string(),
      why: z.string(),
    }),
  ),
});

export type GameDayList = z.infer<typeof gameDayListSchema>;
