import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseNote } from '../../shared/note.ts';
import { askAdmin, metricsText, samplesOf, wordsOf } from '../support/admin.ts';
import { aRow } from '../support/audit-records.ts';
import { type Answered, answerTo, chat, documentOf } from '../support/calls.ts';
import { callOrigin, type DirectOrigin, startDirect } from '../support/direct.ts';
import { FaultyStore } from '../support/faulty-store.ts';

/** A store that says, when told to, that it has lost rows. */
class ForgetfulStore extends FaultyStore {
  lost = 0;

  override async size(): Promise<number> {
    return (await super.size()) - this.lost;
  }
}

const checkpoint = z.object({
  number: z.int(),
  size: z.int(),
  at: z.iso.datetime(),
  hour: z.iso.datetime().nullable(),
  note: z.string(),
});
const pageSchema = z.object({ log: z.literal('residency.test/eu'), checkpoints: z.array(checkpoint) });
const oneSchema = z.object({ checkpoint });
const logSchema = z.object({
  vkey: z.string(),
  sequenced: z.int(),
  published: z.int(),
  witnessed: z.int(),
  published_at: z.iso.datetime().nullable(),
  broken: z.string().nullable(),
});

let origin: DirectOrigin;
let store: ForgetfulStore;

const start = async (): Promise<void> => {
  origin = await startDirect({
    wrapStore: (inner) => {
      store = new ForgetfulStore(inner);
      return store;
    },
  });
};

const get = (path: string): Promise<Answered> => askAdmin(origin.zone, 'GET', path);
const publish = async () =>
  oneSchema.parse(documentOf(await askAdmin(origin.zone, 'POST', '/admin/checkpoints'))).checkpoint;
const page = async (query: string) =>
  pageSchema.parse(documentOf(await get(`/admin/checkpoints?${query}`))).checkpoints;
const stateOf = async () => logSchema.parse(documentOf(await get('/admin/log')));

const call = async (): Promise<number> => {
  const { statusCode, body } = await callOrigin(origin, '/v1/chat/completions', {
    body: chat('support-chat'),
  });
  await body.dump();
  return statusCode;
};

describe('checkpoints', () => {
  beforeAll(start);
  afterAll(() => origin.zone.close());

  it('are made on demand, over everything that is on record', async () => {
    expect(await call()).toBe(200);
    const { size, note } = await publish();
    expect(size).toBe((await origin.zone.records()).length);
    expect(parseNote(note).ok).toBe(true);
    expect((await get('/log/checkpoint')).text).toBe(note);
  });

  it('show nothing of what they do not cover yet', async () => {
    const { size } = await publish();
    await call();
    await store.append([aRow('refused')]);
    for (const path of [`/log/tile/0/000.p/${size + 1}`, `/log/tile/entries/000.p/${size + 1}`])
      expect((await get(path)).status, path).toBe(404);
    await publish();
    expect((await get(`/log/tile/entries/000.p/${size + 1}`)).status).toBe(200);
  });

  it('are listed by number', async () => {
    const all = await page('');
    expect(all.map(({ number }) => number)).toEqual(all.map((_, index) => index));
    expect(all[0]).toMatchObject({ size: 0, hour: null });
    expect(await page('after=0&limit=1')).toEqual(all.slice(1, 2));
    expect(await page('after=1000')).toEqual([]);
  });

  it('are listed by time: from the last one before the window to the first one after it', async () => {
    const made = [];
    for (let time = 0; time < 3; time += 1) {
      await call();
      made.push(await publish());
    }
    const [first, second, third] = made.map(({ at }) => at);
    const sizes = async (query: string) => (await page(query)).map(({ size }) => size);
    expect(await sizes(`from=${first}&to=${second}`)).toEqual(made.slice(0, 2).map(({ size }) => size));
    expect(await sizes(`from=${second}`)).toEqual(made.slice(1).map(({ size }) => size));
    expect((await page(`to=${third}`)).at(-1)?.at).toBe(third);
    expect(await sizes('from=2000-01-01T00:00:00Z&to=2000-01-02T00:00:00%2B01:00')).toEqual([0]);
  });

  it.each(['from=yesterday', 'to=2026-13-01T00:00:00Z', 'after=x', 'limit=0', 'limit=100000'])(
    'are not listed by "%s", which is said in words',
    async (query) => {
      const answer = await get(`/admin/checkpoints?${query}`);
      expect(answer.status).toBe(400);
      expect(wordsOf(answer)).not.toBe('');
    },
  );

  it('and tiles are for nobody without the token, and not on the public address', async () => {
    for (const path of [
      '/log/checkpoint',
      '/log/tile/0/000.p/1',
      '/admin/checkpoints',
      '/admin/log',
      '/admin/pending',
    ])
      expect((await askAdmin(origin.zone, 'GET', path, undefined, {})).status, path).toBe(401);
    expect((await answerTo(origin.zone.origin.url, '/log/checkpoint', { method: 'GET' })).status).toBe(401);
  });
});

describe('the states of the log', () => {
  beforeAll(start);
  afterAll(() => origin.zone.close());

  it('say how many records are durable, under a checkpoint, and witnessed', async () => {
    await call();
    const before = await stateOf();
    expect(before.sequenced).toBeGreaterThan(before.published);
    await publish();
    const { sequenced, published, witnessed, broken } = await stateOf();
    expect({ published, witnessed, broken }).toEqual({ published: sequenced, witnessed: 0, broken: null });
  });

  it('are metrics too, with the age of the newest checkpoint', async () => {
    await call();
    await publish();
    const samples = samplesOf(await metricsText(origin.zone));
    const value = (name: string, state?: string) =>
      samples.find((sample) => sample.name === name && (state === undefined || sample.labels.state === state))
        ?.value;
    const { length } = await origin.zone.records();
    const states = ['recorded', 'sequenced', 'published', 'witnessed'];
    expect(states.map((state) => value('residency_log_records', state))).toEqual([length, length, length, 0]);
    expect(value('residency_log_checkpoint_age_seconds')).toBeLessThan(60);
    expect(value('residency_log_broken')).toBe(0);
    expect(value('residency_log_overdue_pendings')).toBe(0);
  });

  it('name each call that has no end although it is past its time, and no call that may still end', async () => {
    const old = new Date(Date.now() - 3_600_000).toISOString();
    const young = new Date(Date.now() - 60_000).toISOString();
    const ended = aRow('pending', { at: old });
    await store.append([
      aRow('pending', { at: old, request_id: 'lost', endpoint: 'fra' }),
      aRow('pending', { at: young, request_id: 'on-its-way' }),
      ended,
      aRow('completed', { at: old, pending_id: ended.id }),
    ]);
    const { pending } = z
      .object({ deadline_ms: z.int(), pending: z.array(z.looseObject({ age_ms: z.number() })) })
      .parse(documentOf(await get('/admin/pending')));
    expect(pending).toMatchObject([{ request_id: 'lost', tenant: 'acme', endpoint: 'fra', at: old }]);
    expect(pending[0]?.age_ms).toBeGreaterThanOrEqual(3_600_000);
    const overdue = samplesOf(await metricsText(origin.zone)).find(
      ({ name }) => name === 'residency_log_overdue_pendings',
    );
    expect(overdue?.value).toBe(1);
  });
});

describe('a pruned record', () => {
  beforeAll(start);
  afterAll(() => origin.zone.close());

  it('is missing from its bundle of entries, in words, and stays in its tile', async () => {
    await call();
    const { size } = await publish();
    const before = await get(`/log/tile/0/000.p/${size}`);
    await store.prune(aRow('control'), [0]);
    await publish();
    const entries = await get(`/log/tile/entries/000.p/${size}`);
    expect(entries.status).toBe(404);
    expect(wordsOf(entries)).toContain('pruned');
    expect((await get(`/log/tile/0/000.p/${size}`)).text).toBe(before.text);
  });
});

describe('a log that has lost records', () => {
  beforeAll(start);
  afterAll(() => origin.zone.close());

  it('refuses every call, is not ready, and says why and what to do', async () => {
    expect(await call()).toBe(200);
    await publish();
    store.lost = 2;
    expect((await askAdmin(origin.zone, 'POST', '/admin/checkpoints')).status).toBe(503);
    store.lost = 0;
    const words = (await stateOf()).broken;
    expect(words).toMatch(/a checkpoint over \d+ has been signed.*put back the newest copy of the database/);
    const again = await askAdmin(origin.zone, 'POST', '/admin/checkpoints');
    expect([again.status, wordsOf(again)]).toEqual([503, words]);

    origin.zone.provider('fra').reset();
    const { statusCode, headers, body } = await callOrigin(origin, '/v1/chat/completions', {
      body: chat('support-chat'),
    });
    expect(await body.json()).toMatchObject({ error: { code: 'ledger_unavailable' } });
    expect([statusCode, headers['x-residency-outcome']]).toEqual([503, 'refused']);
    expect([...origin.zone.providers.values()].flatMap(({ received }) => received)).toEqual([]);
    expect((await answerTo(origin.zone.origin.url, '/readyz', { method: 'GET' })).status).toBe(503);
    expect((await answerTo(origin.zone.origin.url, '/healthz', { method: 'GET' })).status).toBe(200);
    const broken = samplesOf(await metricsText(origin.zone)).find(
      ({ name }) => name === 'residency_log_broken',
    );
    expect(broken?.value).toBe(1);
    expect(origin.zone.logLines.join('')).toContain('the log must not go on: nothing is forwarded');
  });
});

describe('an origin whose database was put back to an older copy', () => {
  beforeAll(async () => {
    origin = await startDirect();
  });
  afterAll(() => origin.zone.close());

  it('does not start, in words with a cure, and starts once the newest copy is back', async () => {
    const { zone } = origin;
    const database = join(zone.folder, 'log.db');
    await call();
    await zone.origin.close();
    await copyFile(database, `${database}.older`);
    await zone.restart();
    await call();
    await zone.origin.close();
    await copyFile(database, `${database}.newest`);
    await copyFile(`${database}.older`, database);
    const refusal = expect(zone.restart()).rejects;
    await refusal.toThrow(
      /^the log has \d+ records, and a checkpoint over \d+ has been signed.*put back the newest copy/,
    );
    await copyFile(`${database}.newest`, database);
    await zone.restart();
    expect(await call()).toBe(200);
  });
});
