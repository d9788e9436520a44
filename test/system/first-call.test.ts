import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { openaiClient } from '../support/sdk.ts';

describe('a first call', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.close());

  it('runs at the first endpoint of the zone, is on record before and after, and carries a receipt', async () => {
    const { data, response } = await openaiClient(gateway)
      .chat.completions.create({ model: 'support-chat', messages: [{ role: 'user', content: 'hello' }] })
      .withResponse();
    expect(data.choices[0]?.message.content).toContain('fra');
    expect(response.headers.get('x-residency-endpoint')).toBe('fra');
    expect(gateway.eu.provider('fra').receivedTotal).toBe(1);
    const records = await gateway.eu.recordsOf(response.headers.get('x-request-id') ?? '');
    expect(records.map(({ kind }) => kind)).toEqual(['pending', 'served', 'completed']);
  });
});
