import { createHash } from 'node:crypto';
import type { JWK } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UsedAssertions } from '../../origin/admit/used-assertions.ts';
import { type Clock, systemClock } from '../../origin/clock.ts';
import { newSigningKey } from '../../origin/keys/signing-key.ts';
import { assertionAudience, REFUSALS_PATH } from '../../shared/assertion.ts';
import { type Answered, answerTo, chat, documentOf } from '../support/calls.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { assertionOf, reportOf, type Wording } from '../support/worded-assertion.ts';

const CHAT = '/v1/chat/completions';

let gateway: TestGateway;
let edgeKey: JWK;

/** The origin's clock: the machine's, but late by so much. */
let lateMs = 10_000;
const clock: Clock = { ...systemClock, now: () => systemClock.now() - lateMs };

beforeAll(async () => {
  gateway = await startGateway({ eu: { setup: { clock } } });
  // From here on the origin has been up for ten seconds by its own clock.
  lateMs = 0;
  edgeKey = gateway.edgeKey.private;
});
afterAll(() => gateway.close());
beforeEach(() => {
  for (const provider of gateway.eu.providers.values()) provider.reset();
});

const seconds = (offset: number): number => Date.now() / 1_000 + offset;

/** A call straight to the origin, as only the edge may make it. */
function ask(token: string | undefined, requestId: string, target = CHAT): Promise<Answered> {
  return answerTo(gateway.eu.origin.url, target, {
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${gateway.eu.key('acme')}`,
      'x-request-id': requestId,
      ...(token !== undefined && { 'x-residency-assertion': token }),
    },
    body: chat('support-chat'),
  });
}

const worded = (wording: Wording = {}, target = CHAT): Promise<string> =>
  assertionOf(edgeKey, { zone: 'eu', tenant: 'acme', target }, wording);

const forwarded = (): number =>
  [...gateway.eu.providers.values(), ...gateway.us.providers.values()].reduce(
    (sum, { receivedTotal }) => sum + receivedTotal,
    0,
  );

async function expectRefused(answer: Answered, requestId: string): Promise<void> {
  expect(answer.status).toBe(401);
  expect(documentOf(answer)).toMatchObject({ error: { code: 'assertion_invalid', request_id: requestId } });
  expect(answer.headers).toMatchObject({
    'x-residency-outcome': 'refused',
    'x-residency-decided-by': 'origin',
  });
  const [record, ...others] = await gateway.eu.recordsOf(requestId);
  expect(others).toEqual([]);
  expect(record).toMatchObject({
    kind: 'refused',
    code: 'assertion_invalid',
    status: 401,
    jurisdiction: 'eu',
  });
  // Nobody has vouched for any tenant, so the record names none.
  expect(record).not.toHaveProperty('tenant');
  expect(record).not.toHaveProperty('key_id');
  expect(forwarded()).toBe(0);
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token whose payload says something else than what was signed. */
async function altered(): Promise<string> {
  const [head = '', payload = '', signature = ''] = (await worded({ claims: { sub: 'paused' } })).split('.');
  const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const other = base64url({ ...(typeof claims === 'object' ? claims : {}), sub: 'acme' });
  return [head, other, signature].join('.');
}

async function unsigned(): Promise<string> {
  const [, payload = ''] = (await worded()).split('.');
  return `${base64url({ alg: 'none', kid: edgeKey.kid })}.${payload}.`;
}

/** The public key's bytes, in the forms in which a careless verifier would take them for a shared secret. */
const publicKeyAsSecret = {
  'its coordinate': () => Buffer.from(edgeKey.x ?? '', 'base64url'),
  'its JWK': () => Buffer.from(JSON.stringify(gateway.edgeKey.public)),
};

const tokens: readonly (readonly [why: string, token: () => Promise<string | undefined>])[] = [
  ['is missing', async () => undefined],
  ['is empty', async () => ''],
  ['is no token at all', async () => 'rgk_acme_x'],
  ['has expired', () => worded({ claims: { iat: seconds(-61), exp: seconds(-1) } })],
  ['expired a moment ago', () => worded({ claims: { iat: seconds(-60), exp: seconds(-0.001) } })],
  ['is not valid yet', () => worded({ claims: { nbf: seconds(30) } })],
  ['was issued in the future', () => worded({ claims: { iat: seconds(10), exp: seconds(60) } })],
  ["is for another zone's origin", () => worded({ claims: { aud: assertionAudience('us') } })],
  ['is for no origin', () => worded({ claims: { aud: undefined } })],
  ['has another issuer', () => worded({ claims: { iss: 'somebody-else' } })],
  ['is for another path', () => worded({ claims: { htu: '/v1/embeddings' } })],
  ['is for another query', () => worded({ claims: { htu: `${CHAT}?a=1` } })],
  ['is for another method', () => worded({ claims: { htm: 'GET' } })],
  ['was altered after it was signed', altered],
  ['has the algorithm "none"', unsigned],
  ['is signed by a key that is not configured', async () => worded({ key: (await newSigningKey()).private })],
  ['names a key that is not configured', () => worded({ header: { kid: 'another' } })],
  ['names no key', () => worded({ header: { kid: undefined } })],
  ['lives longer than a minute', () => worded({ claims: { exp: seconds(61) } })],
  ['never expires', () => worded({ claims: { exp: undefined } })],
  ['does not say when it was issued', () => worded({ claims: { iat: undefined } })],
  ['was issued before the origin began', () => worded({ claims: { iat: seconds(-50), exp: seconds(9) } })],
  ['has no identity', () => worded({ claims: { jti: undefined } })],
  ['names no tenant', () => worded({ claims: { sub: undefined } })],
  ['names a tenant in another spelling', () => worded({ claims: { sub: 'ACME' } })],
  ['is ten kilobytes of nothing', async () => 'e'.repeat(10_240)],
  ['is signed, and padded to ten kilobytes', () => worded({ claims: { pad: 'p'.repeat(7_500) } })],
  ['reports a refusal', () => reportOf(edgeKey, 'eu', { claims: { sub: 'acme', htu: CHAT, tv: 1 } })],
];

describe('the origin refuses a call, and forwards nothing, whose assertion', () => {
  it.each(tokens)('%s', async (why, token) => {
    const requestId = `assertion.${createHash('sha256').update(why).digest('hex')}`;
    await expectRefused(await ask(await token(), requestId), requestId);
  });

  it.each(Object.keys(publicKeyAsSecret))('is an HMAC under the public key: %s', async (form) => {
    const secret =
      form === 'its JWK' ? publicKeyAsSecret['its JWK']() : publicKeyAsSecret['its coordinate']();
    const requestId = `hmac.${secret.length}`;
    await expectRefused(
      await ask(await worded({ key: secret, header: { alg: 'HS256' } }), requestId),
      requestId,
    );
  });

  it('was sent twice in one request', async () => {
    const token = await worded();
    await expectRefused(await ask(`${token}, ${token}`, 'twice'), 'twice');
  });
});

describe('an assertion', () => {
  it('that the edge would make is accepted', async () => {
    expect((await ask(await worded(), 'valid')).status).toBe(200);
  });

  it('without a type, as plain JWS libraries sign, is accepted', async () => {
    expect((await ask(await worded({ header: { typ: undefined } }), 'untyped')).status).toBe(200);
  });

  it('holds for its query as well as its path, to the last byte', async () => {
    const target = `${CHAT}?a=%7B&b=1`;
    expect((await ask(await worded({}, target), 'query', target)).status).toBe(200);
    await expectRefused(
      await askAfterReset(await worded({}, target), 'query.other', `${CHAT}?a=%7b&b=1`),
      'query.other',
    );
  });

  it('may repeat a long target', async () => {
    const target = `${CHAT}?q=${'q'.repeat(4_000)}`;
    expect((await ask(await worded({}, target), 'long', target)).status).toBe(200);
  });

  it.each([
    ['ahead of', 3],
    ['behind', -3],
  ])('of an edge whose clock is three seconds %s this machine works', async (_, offset) => {
    const claims = { iat: seconds(offset), exp: seconds(offset + 60) };
    expect((await ask(await worded({ claims }), `skew.${offset}`)).status).toBe(200);
  });

  it('is good for one request only', async () => {
    const token = await worded();
    expect((await ask(token, 'first')).status).toBe(200);
    await expectRefused(await askAfterReset(token, 'second'), 'second');
  });

  it('that fifty requests carry at once lets exactly one of them pass', async () => {
    const token = await worded();
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => ask(token, `race.${index}`)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(49);
    expect(forwarded()).toBe(1);
  });

  it('is used up although the call was refused for another reason', async () => {
    const token = await assertionOf(edgeKey, { zone: 'eu', tenant: 'nomad', target: CHAT });
    expect((await ask(token, 'used.1')).status).toBe(421);
    await expectRefused(await ask(token, 'used.2'), 'used.2');
  });
});

function askAfterReset(token: string, requestId: string, target = CHAT): Promise<Answered> {
  for (const provider of gateway.eu.providers.values()) provider.reset();
  return ask(token, requestId, target);
}

describe('a report of a refusal', () => {
  const report = (token: string | undefined) =>
    answerTo(gateway.eu.origin.url, REFUSALS_PATH, {
      headers: { 'x-request-id': 'reporter', ...(token !== undefined && { 'x-residency-assertion': token }) },
    });

  it('is recorded once, however often the edge sends it', async () => {
    const token = await reportOf(edgeKey, 'eu', { claims: { rid: 'reported', sub: 'acme', colo: 'FRA' } });
    const answers = [await report(token), await report(token)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const [record, ...others] = await gateway.eu.recordsOf('reported');
    expect(others).toEqual([]);
    expect(record).toMatchObject({
      kind: 'refused',
      actor: 'edge',
      code: 'tenant_unknown',
      tenant: 'acme',
      colo: 'FRA',
    });
  });

  it.each([
    [
      'is a request assertion',
      () => assertionOf(edgeKey, { zone: 'eu', tenant: 'acme', target: REFUSALS_PATH }),
    ],
    [
      'is a request assertion that also words a refusal',
      () =>
        assertionOf(
          edgeKey,
          { zone: 'eu', tenant: 'acme', target: REFUSALS_PATH },
          { claims: { refusal: { code: 'tenant_unknown', status: 403 } } },
        ),
    ],
    ["is for another zone's origin", () => reportOf(edgeKey, 'us')],
    [
      'words a code of its own',
      () => reportOf(edgeKey, 'eu', { claims: { refusal: { code: 'x', status: 403 } } }),
    ],
    [
      'is signed by a stranger',
      async () => reportOf(edgeKey, 'eu', { key: (await newSigningKey()).private }),
    ],
    ['is missing', async () => undefined],
  ])('leaves no record in its name where it %s', async (why, token) => {
    const before = (await gateway.eu.records()).filter(({ actor }) => actor === 'edge').length;
    const answer = await report(await token());
    expect([why, answer.status]).toEqual([why, 401]);
    expect((await gateway.eu.records()).filter(({ actor }) => actor === 'edge')).toHaveLength(before);
  });
});

describe('the memory of used assertions', () => {
  it('is bounded, and when full refuses instead of forgetting', () => {
    const used = new UsedAssertions(3);
    for (const jti of ['a', 'b', 'c']) expect(used.use(jti, 60_000, 1)).toBe('first');
    expect(used.use('d', 60_000, 2)).toBe('memory_full');
    expect(used.use('a', 60_000, 3)).toBe('reused');
    expect(used.size).toBe(3);
  });

  it('has room again once what it holds has expired', () => {
    const used = new UsedAssertions(2);
    used.use('a', 60_000, 1);
    used.use('b', 60_500, 1);
    expect(used.use('c', 120_000, 60_000)).toBe('first');
    expect(used.size).toBe(2);
  });

  it('holds no more than a minute of assertions, however many pass', () => {
    const used = new UsedAssertions(1_000);
    for (let now = 0; now < 600_000; now += 100)
      expect(used.use(`jti.${now}`, now + 60_000, now)).toBe('first');
    expect(used.size).toBeLessThanOrEqual(601);
  });

  it('takes no assertion at or after its last moment, since it may have forgotten it', () => {
    const used = new UsedAssertions();
    used.use('a', 60_000, 1);
    expect(used.use('a', 60_000, 60_000)).toBe('expired');
    expect(used.use('a', 60_000, 60_400)).toBe('expired');
  });

  it('takes no forgotten assertion when the clock steps back', () => {
    const used = new UsedAssertions();
    used.use('a', 60_000, 1);
    used.use('b', 120_000, 61_000);
    expect(used.use('a', 60_000, 30_000)).toBe('expired');
    expect(used.use('c', 90_000, 30_000)).toBe('first');
  });
});
