import { createPublicKey } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Publisher } from '../../../origin/audit/publisher.ts';
import type { Witness } from '../../../origin/audit/witness-client.ts';
import { listen } from '../../../origin/listening.ts';
import { parseVkey, type VerifierKey } from '../../../shared/verifier-key.ts';
import { openCheckpoint } from '../../independent/checkpoint.ts';
import { ED25519 } from '../../independent/note.ts';
import { newWitnessSigner, vkeyOf } from '../../independent/signer.ts';
import { startWitness, type TestWitness } from '../../support/witness.ts';
import { LOG, PublisherFixture, shortly, signer } from './publisher-fixture.ts';

const { x = '' } = createPublicKey(signer.privateKey).export({ format: 'jwk' });
const logVkey = vkeyOf(LOG, ED25519, x);

let t: PublisherFixture;
let publisher: Publisher;
let witnesses: TestWitness[] = [];

const keyOf = (vkey: string): VerifierKey => {
  const key = parseVkey(vkey);
  if (!key.ok) throw new Error(key.error);
  return key.value;
};

const configured = (): Witness[] =>
  witnesses.map(({ vkey, url }) => ({ key: keyOf(vkey), url: new URL(url) }));

async function start(count: number, quorum = count): Promise<void> {
  witnesses = await Promise.all(
    Array.from({ length: count }, (_, n) => startWitness({ name: `witness.example/${n}`, logs: [logVkey] })),
  );
  publisher = await t.restart({ witnesses: configured(), quorum });
}

beforeEach(() => {
  t = new PublisherFixture();
});
afterEach(async () => {
  await publisher.close();
  await Promise.all(witnesses.map((witness) => witness.close()));
});

/** Publishes so many more records. */
async function grow(records: number): Promise<void> {
  await t.append(records);
  await t.pass(1_000, 100);
  await shortly(t, publisher.publish());
}

const eventually = (expectation: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(
    async () => {
      await t.pass(1_000);
      await expectation();
    },
    { timeout: 10_000, interval: 5 },
  );

const witnessed = (): number => publisher.published.witnessed?.size ?? -1;

/** The checkpoint that counts as witnessed, as it is kept; the clock goes on, so there may be newer ones. */
const witnessedRow = () =>
  t.tables.checkpoints.find(({ number }) => number === publisher.published.witnessed?.number);

describe('a checkpoint', () => {
  it('is cosigned by every witness, and shown with their lines, once they are in the database', async () => {
    await start(2);
    await grow(3);
    await eventually(() => expect(witnessed()).toBe(3));
    const row = witnessedRow();
    expect(row?.cosignatures).toHaveLength(2);
    const shown = `${row?.note}${row?.cosignatures.map((line) => `${line}\n`).join('')}`;
    const { cosigned } = await openCheckpoint(
      shown,
      logVkey,
      witnesses.map(({ vkey }) => vkey),
    );
    expect(cosigned.size).toBe(2);
  });

  it('goes to a witness with a proof from the size that it knows, found out once by asking', async () => {
    await start(1);
    await grow(3);
    await eventually(() => expect(witnessed()).toBe(3));
    await grow(300);
    await eventually(() => expect(witnessed()).toBe(303));
    // Another process does not know what the witness knows, and asks.
    await publisher.close();
    publisher = await t.restart({ witnesses: configured() });
    await grow(1);
    await eventually(() => expect(witnessed()).toBe(304));
    const asked = witnesses[0]?.seen
      .filter(({ size }) => (size ?? 0) > 0)
      .map(({ old, size, status }) => [old, size, status]);
    expect(asked).toEqual(
      expect.arrayContaining([
        [0, 3, 200],
        [3, 303, 200],
        [0, 304, 409],
        [303, 304, 200],
      ]),
    );
  });

  it('counts as witnessed with as many as the quorum asks for', async () => {
    await start(3, 2);
    witnesses[2]?.become('down');
    await grow(3);
    await eventually(() => expect(witnessed()).toBe(3));
    witnesses[1]?.become('failing');
    await grow(1);
    await eventually(() => expect(t.tables.checkpoints.at(-1)?.cosignatures).toHaveLength(1));
    expect(witnessed()).toBe(3);
  });

  it('that was witnessed is so in the next process too', async () => {
    await start(1);
    await grow(3);
    await eventually(() => expect(witnessed()).toBe(3));
    await publisher.close();
    witnesses[0]?.become('down');
    publisher = await t.restart({ witnesses: configured() });
    expect(witnessed()).toBe(3);
  });

  it('is not witnessed by one who is not asked any more', async () => {
    await start(1);
    await grow(3);
    await eventually(() => expect(witnessed()).toBe(3));
    await publisher.close();
    const stranger = newWitnessSigner('witness.example/other').vkey;
    publisher = await t.restart({
      witnesses: [{ key: keyOf(stranger), url: new URL('http://127.0.0.1:9') }],
    });
    expect(witnessed()).toBe(-1);
  });

  it('is never witnessed where nobody is asked to', async () => {
    await start(0);
    await grow(3);
    await t.pass(60_000);
    expect(witnessed()).toBe(-1);
  });
});

describe('a witness that', () => {
  it.each([
    ['is down', 'down', 'could not be reached'],
    ['answers 500', 'failing', 'answered with the status 500'],
    ['signs with a key that nobody knows', 'stranger', 'gave no cosignature that holds under its key'],
    ['cosigns another root', 'forked', 'gave no cosignature that holds under its key'],
    ['sends no signature', 'babbling', 'gave no cosignature that holds under its key'],
    ['never stops sending', 'flooding', 'answered with more than 16384 bytes'],
    ['sends the request elsewhere', 'elsewhere', 'answered with the status 307'],
    ['hangs up after it has cosigned', 'cut_off', 'could not be reached'],
  ] as const)('%s holds nothing up, is told of, and is asked again', async (_, mood, fault) => {
    await start(1);
    witnesses[0]?.become(mood);
    await grow(3);
    expect(publisher.published.latest?.size).toBe(3);
    await eventually(() => expect(told()).toContain(fault));
    expect(t.tables.checkpoints.at(-1)?.cosignatures).toEqual([]);
    witnesses[0]?.become('honest');
    await eventually(() => expect(witnessed()).toBe(3));
    expect(told()).toContain('a witness cosigns again');
  });

  it('is slow is left alone after ten seconds', async () => {
    await start(1);
    witnesses[0]?.become('slow');
    await grow(3);
    await eventually(() => expect(told()).toContain('gave no answer in 10000 ms'));
    witnesses[0]?.become('honest');
    await eventually(() => expect(witnessed()).toBe(3));
  });

  it('has lines of others beside its own adds its own alone', async () => {
    await start(1);
    witnesses[0]?.become('chatty');
    await grow(3);
    await eventually(() => expect(witnessed()).toBe(3));
    expect(witnessedRow()?.cosignatures).toHaveLength(1);
  });

  it('has forgotten the log is shown it from the beginning', async () => {
    await start(1);
    await grow(3);
    await eventually(() => expect(witnessed()).toBe(3));
    witnesses[0]?.forget(LOG);
    await grow(2);
    await eventually(() => expect(witnessed()).toBe(5));
  });

  it.each([
    [9_999, 'was the database put back to an older copy?'],
    [1, 'another history of this log over 1 records'],
  ])(
    'says again and again that it knows %d records is told of, and stops nothing',
    async (conflict, words) => {
      await start(1);
      witnesses[0]?.become({ conflict });
      await grow(3);
      await eventually(() => expect(told()).toContain(words));
      expect(publisher.broken).toBeUndefined();
      await grow(1);
      expect(publisher.published.latest?.size).toBe(4);
    },
  );

  it('knows another history of the log of the same size is told of', async () => {
    const other = new PublisherFixture();
    await start(1);
    await grow(3);
    await eventually(() => expect(witnessed()).toBe(3));
    await publisher.close();
    // The same log, as it would be after a disaster that was covered up: other records under the same name.
    publisher = await other.restart({ witnesses: configured() });
    t = other;
    await grow(3);
    await eventually(() => expect(told()).toContain('another history of this log over 3 records'));
    expect(witnessed()).toBe(-1);
  });
});

describe('a cosignature', () => {
  it.each(['kept', 'lost'] as const)(
    'whose row fails (%s) is asked for again, and kept once',
    async (group) => {
      await start(1);
      await eventually(() => expect(witnessed()).toBe(0));
      t.store.fail('cosign', 'failed', group);
      await grow(3);
      await eventually(() => expect(witnessed()).toBe(3));
      expect(witnessedRow()?.cosignatures.length).toBeGreaterThanOrEqual(1);
    },
  );
});

describe('what leaves the zone', () => {
  it('is the checkpoint and hashes, and no word of a record', async () => {
    const bodies: string[] = [];
    const listening = createServer(async (request, response) => {
      bodies.push(await text(request));
      response.writeHead(409, { 'content-type': 'text/x.tlog.size' }).end('3\n');
    });
    const url = new URL(await listen(listening, { host: '127.0.0.1', port: 0 }));
    publisher = await t.restart({ witnesses: [{ key: keyOf(newWitnessSigner('w.example').vkey), url }] });
    for (const records of [3, 400]) await grow(records);
    await eventually(() => expect(bodies.some((body) => body.startsWith('old 3\n'))).toBe(true));
    const hash = '[A-Za-z0-9+/]{43}=';
    const line = `\u2014 ${LOG} [A-Za-z0-9+/=]+`;
    const form = new RegExp(
      `^old \\d+\\n(?:${hash}\\n)*\\n${LOG}\\n\\d+\\n${hash}\\n\\n${line}\\n${line}\\n$`,
    );
    for (const body of bodies) expect(body).toMatch(form);
    await new Promise((resolve) => listening.close(resolve));
  });
});

const told = (): string => t.said.join('');
