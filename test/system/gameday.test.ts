import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { askAdmin, wordsOf } from '../support/admin.ts';
import { chat, documentOf } from '../support/calls.ts';
import { type CommandFolder, commandFolder } from '../support/command.ts';
import { callOrigin, type DirectOrigin, startDirect } from '../support/direct.ts';

let direct: DirectOrigin;
let folder: CommandFolder;

beforeAll(async () => {
  direct = await startDirect({
    tenants: [{ id: 'acme' }, { id: 'beta' }],
    health: { probe: 'none' },
    endpoints: [
      { id: 'fra', region: 'eu-central-1' },
      { id: 'dub', region: 'eu-west-1' },
    ],
  });
  folder = await commandFolder({ eu: direct.zone }, { acme: 'eu', beta: 'eu' });
});
afterAll(async () => {
  await folder?.remove();
  await direct?.zone.close();
});

/** Status, endpoint and code of one streamed chat. */
async function call(tenant: string, id: string): Promise<string> {
  const answer = await callOrigin({ ...direct, tenant }, '/v1/chat/completions', {
    headers: { 'x-request-id': id },
    body: chat('support-chat', 'hello', { stream: true }),
  });
  const { 'x-residency-endpoint': endpoint = '-' } = answer.headers;
  const code = /"code":"(\w+)"/.exec(await answer.body.text())?.[1] ?? '-';
  return `${answer.statusCode} ${String(endpoint)} ${code}`;
}

const gameday = (...args: string[]) => folder.residency('gameday', ...args);

const heldNow = async () => {
  const list = documentOf(await askAdmin(direct.zone, 'GET', '/admin/gamedays'));
  const schema = z.object({ game_days: z.array(z.object({ tenant: z.string(), endpoint: z.string() })) });
  return schema.parse(list).game_days.map(({ tenant, endpoint }) => `${tenant} ${endpoint}`);
};

const ORDER = { tenant: 'acme', endpoints: ['fra'], minutes: 5, by: 'ana', why: 'drill' };

describe('a game day', () => {
  it('fails one tenant over, then refuses it, and no other tenant notices', async () => {
    expect(await call('acme', 'before')).toBe('200 fra -');
    const started = await gameday(
      ...['start', '--tenant', 'acme', '--endpoint', 'fra', '--for', '30m', '--by', 'ana', '--why', 'drill'],
    );
    expect([started.code, started.stdout]).toEqual([0, expect.stringMatching(/acme +fra .* ana +drill/)]);
    expect(await call('acme', 'over')).toBe('200 dub -');
    await askAdmin(direct.zone, 'POST', '/admin/gamedays', { ...ORDER, endpoints: ['dub'] });
    expect(await call('acme', 'none-left')).toBe('503 - no_compliant_endpoint');
    expect(await call('beta', 'untouched')).toBe('200 fra -');
    expect(direct.zone.provider('fra').receivedTotal).toBe(2);
  });

  it('is on record with its end, as the tenant’s own, before that comes', async () => {
    const controls = (await direct.zone.records()).filter(({ kind }) => kind === 'control');
    expect(controls).toMatchObject([
      {
        tenant: 'acme',
        endpoint: 'fra',
        actor: 'ana',
        selection_reason: expect.stringMatching(/until 20.*Z: drill$/),
      },
      { tenant: 'acme', endpoint: 'dub', actor: 'ana' },
    ]);
  });

  it('outlives a restart of the origin', async () => {
    await direct.zone.restart();
    await folder.pointTo({ eu: direct.zone });
    expect(await heldNow()).toEqual(['acme fra', 'acme dub']);
    expect(await call('acme', 'still-none')).toBe('503 - no_compliant_endpoint');
  });

  it('is reported from a verified bundle: what held, and in which region the receipts are', async () => {
    const ran = await gameday('report', '--tenant', 'acme', '--from', '-1d', '--json');
    expect(JSON.parse(ran.stdout)).toMatchObject({
      ...{ ok: true, tenant: 'acme', scope: 'log', refused: { count: 2 } },
      receipts: { count: 1, by_region: [{ region: 'eu-west-1', endpoint: 'dub', count: 1 }] },
      graphs: [{ workload: 'support-chat', policy: 'eu-test@1.0.0', endpoints: ['fra', 'dub'] }],
      checks: [
        { check: 'inside_graph', verdict: 'held' },
        { check: 'first_token', verdict: 'held' },
        { check: 'fail_closed', verdict: 'held' },
      ],
    });
    expect(ran.code).toBe(0);
  });

  it('ends before its time by order, and everything is as before', async () => {
    const stopped = await gameday('stop', '--tenant', 'acme', '--why', 'seen enough');
    expect([stopped.code, stopped.stdout]).toEqual([0, 'Nothing is forced open.\n']);
    expect(await call('acme', 'after')).toBe('200 fra -');
    const again = await askAdmin(direct.zone, 'POST', '/admin/gamedays/stop', {
      tenant: 'acme',
      by: 'a',
      why: 'b',
    });
    expect([again.status, wordsOf(again)]).toEqual([409, expect.stringContaining('Nothing is forced open')]);
  });
});

describe('an order that is no game day', () => {
  it.each([
    ['a tenant of nowhere', { tenant: 'nobody' }, 404, 'no tenant of that id'],
    ['an endpoint of no graph', { endpoints: ['fra', 'par'] }, 404, 'has an endpoint of that id'],
    ['no endpoint', { endpoints: [] }, 400, 'endpoints'],
    ['more than a week', { minutes: 10_081 }, 400, 'minutes'],
    ['no end', { minutes: undefined }, 400, 'minutes'],
    ['nobody who gives it', { by: ' ' }, 400, 'by'],
    ['a reason of two lines', { why: 'a\nb' }, 400, 'why'],
    ['a member that there is not', { force: true }, 400, 'force'],
  ])('changes nothing: %s', async (_, members, status, says) => {
    const before = (await direct.zone.records()).length;
    const answer = await askAdmin(direct.zone, 'POST', '/admin/gamedays', { ...ORDER, ...members });
    expect([answer.status, wordsOf(answer)]).toEqual([status, expect.stringContaining(says)]);
    expect([await heldNow(), (await direct.zone.records()).length]).toEqual([[], before]);
  });

  it('is used wrongly where its time is none', async () => {
    const ran = await gameday('start', '--tenant', 'acme', '--endpoint', 'fra', '--for', '90s', '--why', 'x');
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('--for takes')]);
  });
});
