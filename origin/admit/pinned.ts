import type { Refusal } from '../../shared/errors.ts';
import type { ModelRoute } from '../../shared/routes.ts';
import type { Candidate } from '../policy/resolve.ts';
import type { ReadBody } from './workload.ts';

/** What a caller says of where to run, against what an endpoint that may serve the call is told; if it does. */
export const contradictionOf = (body: ReadBody, candidates: readonly Candidate[]): Refusal | undefined =>
  candidates
    .map(({ endpoint: { pin } }) => pin && body.against(pin))
    .find((contradiction) => contradiction !== undefined);

/** The body for one endpoint: with its own model id, and told where to run where the endpoint takes that. */
export const bodyFor = (
  body: ReadBody,
  { endpoint: { pin }, model }: Candidate,
  route: ModelRoute['path'],
): Buffer => body.withModel(model, pin?.route === route ? pin : undefined);
