import { importSPKI, jwtVerify } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { vertex } from '../../../origin/endpoints/vertex.ts';
import { GoogleTokens } from '../../../origin/forward/access-tokens.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { startTokenEndpoint, type TokenEndpoint } from '../../support/token-endpoint.ts';
import { endpoint } from './endpoints.ts';

const HOUR_MS = 3_600_000;

let tokens: TokenEndpoint;
let clock: ManualClock;
let google: GoogleTokens;

beforeEach(async () => {
  tokens = await startTokenEndpoint();
  clock = new ManualClock();
  google = new GoogleTokens(clock);
});
afterEach(() => tokens.close());

const sent = async (credential = tokens.keyFile) =>
  await vertex.authorize(endpoint({ provider: 'vertex', region: 'europe-west3' }, credential), google);

const bearer = (number: number) => ({ authorization: `Bearer token-${number}` });

describe('the access token of a service account', () => {
  it('is granted for an assertion that its key has signed, as RFC 7523 and Google have it', async () => {
    expect(await sent()).toEqual(bearer(1));
    const [form] = tokens.asked;
    expect(form?.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const { payload, protectedHeader } = await jwtVerify(
      form?.get('assertion') ?? '',
      await importSPKI(tokens.publicKey, 'RS256'),
      { issuer: 'caller@p.iam.example', audience: tokens.uri, currentDate: new Date(clock.now()) },
    );
    expect(protectedHeader).toMatchObject({ alg: 'RS256', kid: 'key-1' });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3_600);
    expect(payload.scope).toBe('https://www.googleapis.com/auth/cloud-platform');
  });

  it('is asked for once, however many calls wait for it, and kept', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => sent()));
    expect(new Set(all.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer token-1']));
    clock.advance(HOUR_MS / 2);
    expect(await sent()).toEqual(bearer(1));
    expect(tokens.asked).toHaveLength(1);
  });

  it('is replaced before it ends, and nobody waits for that', async () => {
    await sent();
    clock.advance(HOUR_MS - 200_000);
    expect(await sent()).toEqual(bearer(1));
    await expect.poll(() => sent()).toEqual(bearer(2));
    expect(tokens.asked).toHaveLength(2);
  });

  it('goes on serving until its end where no other can be had', async () => {
    await sent();
    tokens.answer = { status: 500, body: '' };
    clock.advance(HOUR_MS - 200_000);
    expect(await sent()).toEqual(bearer(1));
    clock.advance(180_000);
    await expect(sent()).rejects.toThrow('no credential: the token endpoint answered 500');
  });

  it.each([
    ['a refusal', { status: 401, body: 'MARKER' }, 'answered 401'],
    ['rubbish', { status: 200, body: 'MARKER' }, 'no token could be had'],
    ['no token', { status: 200, body: '{"error":"MARKER"}' }, 'gave no token'],
    [
      'a token that no header can carry',
      { status: 200, body: '{"access_token":"MAR\\nKER","expires_in":1}' },
      'gave no token',
    ],
    ['an endless answer', { status: 200, body: 'x'.repeat(100_000) }, 'gave no token'],
  ])('is told as missing after %s, in our own words', async (_, answer, why) => {
    tokens.answer = answer;
    await expect(sent()).rejects.toThrow(why);
    await expect(sent()).rejects.not.toThrow('MARKER');
    expect(tokens.asked).toHaveLength(1);
    tokens.answer = { status: 200, body: '{"access_token":"token-NUMBER","expires_in":3600}' };
    clock.advance(1_000);
    expect(await sent()).toEqual(bearer(2));
  });

  it('is not waited for longer than its limit', async () => {
    tokens.answer = 'hold';
    const waiting = expect(sent()).rejects.toThrow('gave no answer in 10000 ms');
    await expect.poll(() => tokens.asked.length).toBe(1);
    clock.advance(10_000);
    await waiting;
  });
});

describe('a credential of Vertex', () => {
  it('that is no key file is a token itself', async () => {
    expect(await sent('ya29.token')).toEqual({ authorization: 'Bearer ya29.token' });
    expect(tokens.asked).toEqual([]);
  });

  it('never has its key sent to another host than Google’s', () => {
    const at = (token_uri: string) => JSON.stringify({ ...JSON.parse(tokens.keyFile), token_uri });
    const fault = (text: string) => vertex.keyFile?.fault(text);
    expect(fault(at('https://oauth2.googleapis.com/token'))).toBeUndefined();
    for (const uri of [
      'https://oauth2.googleapis.com.example/token',
      'http://oauth2.googleapis.com/token',
      'http://127.0.0.1.example:80/token',
      'https://evil.example/token',
    ]) {
      expect(fault(at(uri))).toContain('look at token_uri');
    }
  });

  it('that is a broken key file is found at start, and not quoted', () => {
    for (const text of [
      '{',
      '{"type":"authorized_user","MARKER":1}',
      `{"private_key":"${'MARKER'.repeat(9_000)}"}`,
    ]) {
      expect(vertex.keyFile?.is(text)).toBe(true);
      expect(vertex.keyFile?.fault(text)).not.toMatch(/MARKER|^$/);
      expect(vertex.keyFile?.fault(text)).toBeDefined();
    }
  });
});
