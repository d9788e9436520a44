import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OriginConfig } from '../../origin/config.ts';
import type { Endpoint } from '../../origin/endpoints/endpoint.ts';
import { Secret } from '../../origin/endpoints/secret.ts';
import { callOrigin, type DirectOrigin, startDirect } from '../support/direct.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { startTokenEndpoint, type TokenEndpoint } from '../support/token-endpoint.ts';

const MESSAGE = { max_tokens: 64, messages: [{ role: 'user', content: 'hello' }] };

let direct: DirectOrigin;
afterEach(() => direct.zone.close());

/** Changes one endpoint of a configuration to what it would be at its provider's own host. */
const as =
  (id: string, change: Partial<Endpoint>) =>
  (config: OriginConfig): OriginConfig => {
    const registry = new Map(config.registry);
    const endpoint = registry.get(id);
    if (endpoint) registry.set(id, { ...endpoint, ...change });
    return { ...config, registry };
  };

async function call(route: string, body: object | string) {
  const answer = await callOrigin(direct, route, {
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'x-request-id': 'the-call' },
  });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}

const records = async () => await direct.zone.recordsOf('the-call');

describe('Anthropic’s own API in the zone us', () => {
  const claude = () => direct.zone.provider('claude');
  const sent = () => claude().received.at(-1)?.body.toString() ?? '';

  beforeEach(async () => {
    direct = {
      ...(await startDirect({
        zone: 'us',
        countries: ['US'],
        allow: { region_evidence: 'response_body' },
        endpoints: [{ id: 'claude', region: 'us-east-1', provider: 'anthropic' }],
        health: { probe: 'none' },
        amend: as('claude', {
          pin: { member: 'inference_geo', value: 'us', route: '/v1/messages' },
          regionBody: ['usage', 'inference_geo'],
        }),
      })),
      name: 'us',
    };
  });

  it('is told to run in us, and the record says that it did by its own word', async () => {
    const body =
      '{"max_tokens":64, "model":"support-chat","messages":[{"role":"user","content":"a\\u00e9"}],"top_p":0.1000}';
    const answer = await call('/v1/messages', body);
    expect(answer.status).toBe(200);
    expect(sent()).toBe(
      body
        .replace('{"max', '{"inference_geo":"us","max')
        .replace('"support-chat"', '"claude.support-chat-20260101"'),
    );
    expect(answer.headers).toMatchObject({
      'x-residency-region': 'us',
      'x-residency-region-source': 'response_body',
    });
    const [, served] = await records();
    expect(served).toMatchObject({ serving_region: 'us', region_verdict: 'match' });
  });

  it('is told so in streams as well, whose first event says where it ran', async () => {
    const answer = await call('/v1/messages', { model: 'support-chat', ...MESSAGE, stream: true });
    expect(answer.headers['x-residency-region-source']).toBe('response_body');
    expect(JSON.parse(sent())).toMatchObject({ inference_geo: 'us', stream: true });
  });

  it.each(['global', 'eu', 'US'])('refuses a body that says "%s", and asks nobody', async (geo) => {
    const answer = await call('/v1/messages', { model: 'support-chat', ...MESSAGE, inference_geo: geo });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'body_invalid' } });
    expect(answer.text).not.toContain(geo === 'global' ? 'global' : `"${geo}"`);
    expect(claude().receivedTotal).toBe(0);
    expect((await records()).map(({ kind, code }) => [kind, code])).toEqual([['refused', 'body_invalid']]);
  });

  it('withholds a message that ran elsewhere all the same', async () => {
    claude().order({ inferenceGeo: 'global', text: 'MARKER-ANSWER' });
    const answer = await call('/v1/messages', { model: 'support-chat', ...MESSAGE });
    expect(answer.status).toBe(502);
    expect(answer.text).not.toContain('MARKER');
    expect((await records()).map(({ kind }) => kind)).toEqual(['pending', 'violation']);
  });

  it('withholds a message that does not say where it ran, where the policy asks to see it', async () => {
    claude().order({ inferenceGeo: 'not_available' });
    const answer = await call('/v1/messages', { model: 'support-chat', ...MESSAGE });
    expect(answer.status).toBe(502);
    expect((await records())[1]).toMatchObject({ kind: 'violation', region_verdict: 'unverified' });
  });
});

describe('an engine that speaks Anthropic’s API', () => {
  it('is sent inference_geo as the caller wrote it, and cannot be taken out by an echo of it', async () => {
    direct = await startDirect({
      endpoints: [{ id: 'engine', region: 'eu-central-1', provider: 'anthropic' }],
      health: { probe: 'none' },
    });
    for (const geo of ['us', 'global']) {
      const answer = await call('/v1/messages', { model: 'support-chat', ...MESSAGE, inference_geo: geo });
      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.text)).toMatchObject({ usage: { inference_geo: geo } });
      expect(answer.headers['x-residency-region']).toBe('eu-central-1');
    }
  });
});

describe('Azure OpenAI', () => {
  it('gets its key in api-key, and none of the caller’s', async () => {
    direct = await startDirect({
      endpoints: [
        { id: 'azure', region: 'swedencentral', provider: 'azure-openai', credential: 'azure-key' },
      ],
    });
    expect((await call('/v1/chat/completions', { model: 'support-chat', messages: [] })).status).toBe(200);
    const [request] = direct.zone.provider('azure').received;
    expect(request?.header('api-key')).toBe('azure-key');
    expect(request?.header('authorization')).toBeUndefined();
  });
});

describe('Vertex with the key of a service account', () => {
  const CHAT = { model: 'support-chat', messages: [{ role: 'user', content: 'hello' }] };
  let tokens: TokenEndpoint;
  const clock = new ManualClock();

  beforeEach(async () => {
    tokens = await startTokenEndpoint();
    direct = await startDirect({
      setup: { clock },
      endpoints: [
        { id: 'vertex', region: 'europe-west3' },
        { id: 'other', region: 'eu-west-1' },
      ],
      amend: as('vertex', { provider: 'vertex', credential: new Secret(tokens.keyFile) }),
    });
  });
  afterEach(() => tokens.close());

  it('is called with an access token, fetched once for many calls', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => call('/v1/chat/completions', CHAT)));
    expect(answers.map(({ headers }) => headers['x-residency-endpoint'])).toEqual(Array(5).fill('vertex'));
    const sent = direct.zone.provider('vertex').received.map((request) => request.header('authorization'));
    expect(new Set(sent)).toEqual(new Set(['Bearer token-1']));
    expect(tokens.asked).toHaveLength(1);
    expect([...(tokens.asked[0]?.keys() ?? [])]).toEqual(['grant_type', 'assertion']);
  });

  it('without a token is a failed attempt, and the next endpoint answers', async () => {
    tokens.answer = { status: 400, body: '{"error":"invalid_grant MARKER"}' };
    const answer = await call('/v1/chat/completions', CHAT);
    expect([answer.status, answer.headers['x-residency-endpoint']]).toEqual([200, 'other']);
    expect(direct.zone.provider('vertex').receivedTotal).toBe(0);
    const [, failed, pending] = await records();
    expect(failed).toMatchObject({ kind: 'failed', endpoint: 'vertex' });
    expect(pending?.candidates).toEqual([
      { endpoint: 'vertex', rejected: 'no credential: the token endpoint answered 400' },
    ]);
    expect(direct.zone.logLines.join('')).not.toMatch(/MARKER|PRIVATE KEY/);
  });

  it('does not hold a caller who hangs up while the token is waited for', async () => {
    tokens.answer = 'hold';
    const hangUp = new AbortController();
    const body = JSON.stringify(CHAT);
    const headers = { 'x-request-id': 'the-call' };
    const gone = callOrigin(direct, '/v1/chat/completions', { body, headers, signal: hangUp.signal });
    await expect.poll(() => tokens.asked.length).toBe(1);
    hangUp.abort();
    await expect(gone).rejects.toThrow();
    await expect
      .poll(async () => (await records()).map(({ kind, actor }) => [kind, actor]))
      .toEqual([
        ['pending', undefined],
        ['interrupted', 'client'],
      ]);
  });
});
