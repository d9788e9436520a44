import { Hono } from 'hono/tiny';
import { callOf } from './call.ts';
import type { Denial } from './denial.ts';
import { environmentOf } from './environment.ts';
import { inspect } from './inspect.ts';
import { lookUp } from './lookup.ts';
import { pin } from './pin.ts';
import { refusalAnswer, refuse } from './refuse.ts';

const UNAVAILABLE: Denial = {
  refusal: { code: 'origin_unavailable' },
  tenant: undefined,
  claimed: undefined,
  zone: 'not_found',
};

const worker = new Hono<{ Bindings: object }>();

worker.all('*', async (context) => {
  const request = context.req.raw;
  const call = callOf(request);
  const environment = await environmentOf(context.env);
  if (environment === undefined) return refusalAnswer(UNAVAILABLE, call);
  const denied = (denial: Denial) =>
    refuse(denial, call, environment, (work) => context.executionCtx.waitUntil(work));

  const claim = inspect((name) => request.headers.get(name));
  if (!claim.ok) return await denied(claim.error);
  const tenant = await lookUp(claim.value, call.url.hostname, environment);
  if (!tenant.ok) return await denied(tenant.error);
  const answer = await pin(request, tenant.value, call, environment);
  return answer.ok ? answer.value : await denied(answer.error);
});

// The cause may quote a header, so nobody is told it.
worker.onError((_cause, context) => refusalAnswer(UNAVAILABLE, callOf(context.req.raw)));

export default worker;
