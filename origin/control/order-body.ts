import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import { err, ok, type Result } from '../../shared/result.ts';

/** What an admin route answers in words alone. */
export const said = (message: string) => ({ error: { message } });

/** Refuses the body of an order that is longer than so many bytes. */
export const orderLimit = (maxSize: number) =>
  bodyLimit({ maxSize, onError: (c) => c.json(said(`An order has ${maxSize} bytes at most.`), 413) });

/**
 * The order that a request brings, or the answer that says what is wrong with it.
 *
 * @param form how an order is sent, in words, for one that is no JSON
 */
export async function readOrder<Schema extends z.ZodType>(
  c: Context,
  schema: Schema,
  form: string,
): Promise<Result<z.output<Schema>, Response>> {
  const json: unknown = await c.req.json().catch(() => undefined);
  if (json === undefined) return err(c.json(said(form), 400));
  const order = schema.safeParse(json);
  return order.success ? ok(order.data) : err(c.json(said(z.prettifyError(order.error)), 400));
}
