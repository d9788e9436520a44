import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

describe('a first call', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.close());

  it('runs at the first endpoint of the zone, is on record before and after, and carries a receipt', async () => {
    const client = new OpenAI({
      baseURL: `${gateway.edge.url}/v1`,
      apiKey: gateway.eu.key('acme'),
      defaultHeaders: { 'x-jurisdiction': 'eu' },
      maxRetries: 0,
    });
    const { data, response } = await client.chat.completions
      .create({ model: 'support-chat', messages: [{ role: 'user', content: 'hello' }] })
      .withResponse();
    expect(data.choices[0]?.message.content).toContain('fra');
    expect(response.headers.get('x-residency-endpoint')).toBe('fra');
    expect(gateway.eu.provider('fra').receivedTotal).toBe(1);
    const records = await gateway.eu.recordsOf(response.headers.get('x-request-id') ?? '');
    expect(records.map(({ kind }) => kind)).toEqual(['pending', 'served', 'completed']);
  });
});
