import { describe, expect, it } from 'vitest';
import { orderSchema } from '../../../origin/control/endpoint-orders.ts';

const given = (by: string) => orderSchema.safeParse({ by, why: 'maintenance' });

describe('who gives an order', () => {
  it('is a person, and never a part of the system in whose name records are made', () => {
    for (const by of ['gateway', 'Edge', 'CLIENT', 'endpoint', ' gateway ', 'ｇateway']) {
      expect(given(by).success, by).toBe(false);
      expect(given(by).error?.message).toContain('name the person who gives the order');
    }
    expect(given('ana').success).toBe(true);
  });
});
