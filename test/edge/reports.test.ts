import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { REPORTS_LIMIT } from '../../edge/report.ts';
import { ACME, type EdgeWorld, startEdgeWorld } from '../support/edge.ts';
import { startStubOrigin } from '../support/stub-origin.ts';

/** Of a tenant in `eu`, and refused at the edge. */
const REFUSED = { headers: { ...ACME, 'x-jurisdiction': 'us' } };

let world: EdgeWorld;
afterEach(() => world.close());

describe('the report of a refusal', () => {
  it('is on record before the caller is answered, where its origin is quick', async () => {
    world = await startEdgeWorld();
    await world.call('/v1/models', REFUSED);
    expect(world.eu.reports.all).toHaveLength(1);
  });

  it('has no body and no header of the caller', async () => {
    world = await startEdgeWorld();
    const seen = new Promise<Record<string, unknown>>((resolve) => {
      world.eu.answerReports((request, response) => {
        resolve({ ...request.headers });
        response.writeHead(204).end();
      });
    });
    await world.call('/v1/models', { headers: { ...REFUSED.headers, 'x-note': 'MARKER', cookie: 'MARKER' } });
    const headers = await seen;
    expect(headers['content-length']).toBe('0');
    expect(JSON.stringify(headers)).not.toMatch(/MARKER|rgk_/);
  });

  it('does not keep the caller waiting for an origin that takes it and never answers', async () => {
    world = await startEdgeWorld();
    world.eu.answerReports(() => undefined);
    const answer = await world.call('/v1/models', REFUSED);
    expect(answer.statusCode).toBe(403);
    expect(world.eu.reports.all).toHaveLength(1);
  });

  it('is sent again, the very same, until the origin has it', async () => {
    world = await startEdgeWorld();
    const statuses = [503, 500, 204];
    world.eu.answerReports((_request, response) => response.writeHead(statuses.shift() ?? 204).end());
    await world.call('/v1/models', REFUSED);
    const [first, second, third] = [
      await world.eu.reports.next(),
      await world.eu.reports.next(),
      await world.eu.reports.next(),
    ];
    expect([second, third]).toEqual([first, first]);
    expect(world.us.reports.all).toEqual([]);
  });

  it('is never followed to where a redirect points', async () => {
    world = await startEdgeWorld();
    const elsewhere = await startStubOrigin();
    world.eu.answerReports((_request, response) =>
      response.writeHead(307, { location: elsewhere.url }).end(),
    );
    await world.call('/v1/models', REFUSED);
    await world.eu.reports.next();
    await world.eu.reports.next();
    expect([...elsewhere.calls.all, ...elsewhere.reports.all]).toEqual([]);
    await elsewhere.close();
  });

  it('of an origin that cannot be reached goes to no other origin, and the caller is answered', async () => {
    const gone = await startStubOrigin();
    await gone.close();
    const us = await startStubOrigin();
    world = await startEdgeWorld({ origins: { eu: gone.url, us: us.url } });
    const answer = await world.call('/v1/models', { headers: ACME });
    expect([answer.statusCode, await answer.body.text()]).toEqual([
      503,
      expect.stringContaining('"code":"origin_unavailable"'),
    ]);
    expect([...us.calls.all, ...us.reports.all]).toEqual([]);
    await us.close();
  });

  it('is left out rather than piling up, while every caller is still answered', async () => {
    world = await startEdgeWorld();
    world.eu.answerReports(() => undefined);
    const callers = Array.from({ length: REPORTS_LIMIT + 50 }, () => world.call('/v1/models', REFUSED));
    const answers = await Promise.all(callers);
    expect(new Set(answers.map((answer) => answer.statusCode))).toEqual(new Set([403]));
    expect(world.eu.reports.all.length).toBeLessThanOrEqual(REPORTS_LIMIT);
    expect(world.eu.reports.all.length).toBeGreaterThan(REPORTS_LIMIT / 2);
  });

  it('finds its place once others are done, so that each refusal of a burst is on record in the end', async () => {
    world = await startEdgeWorld();
    const held: ServerResponse[] = [];
    world.eu.answerReports((_request, response) => held.push(response));
    const burst = REPORTS_LIMIT + 50;
    await Promise.all(Array.from({ length: burst }, () => world.call('/v1/models', REFUSED)));
    expect(held.length).toBeLessThanOrEqual(REPORTS_LIMIT);
    world.eu.answerReports();
    for (const response of held) response.writeHead(204).end();
    await expect.poll(() => new Set(world.eu.reports.all).size, { timeout: 10_000 }).toBe(burst);
  }, 20_000);
});
