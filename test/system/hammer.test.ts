import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeStack } from '../../origin/control/stack-file.ts';
import { hammer } from '../../origin/dev/hammer/run.ts';
import { findTarget, type Target } from '../../origin/dev/hammer/target.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ADMIN_TOKEN } from '../support/zone.ts';

let gateway: TestGateway;
let data: string;
let target: Target;

beforeAll(async () => {
  gateway = await startGateway();
  data = await mkdtemp(join(tmpdir(), 'residency-hammer-'));
  const { url, admin } = gateway.eu.origin;
  await writeStack(data, {
    edge: gateway.edge.url,
    origins: { eu: { url, admin, admin_token: ADMIN_TOKEN } },
    tenants: [{ id: 'acme', jurisdiction: 'eu', key: gateway.eu.key('acme') }],
    providers: {},
  });
  target = await findTarget(data, 'eu');
});
afterAll(async () => {
  await gateway?.close();
  await rm(data, { recursive: true });
});

const so = (many: number) => ({ clients: 4, goOn: (calls: number) => calls < many });

/** The target, but for what a fault of the gateway would change in its answers. */
const lying = (change: (text: string) => string, path: RegExp): Target => {
  const through = async (asked: string, response: Response): Promise<Response> => {
    if (!path.test(asked)) return response;
    const text = change(await response.text());
    return new Response(text, { status: response.status });
  };
  return {
    ...target,
    ask: async (asked, options) => through(asked, await target.ask(asked, options)),
    askAdmin: async (asked, method) => through(asked, await target.askAdmin(asked, method)),
  };
};

describe('the hammer', () => {
  it('finds nothing wrong with a gateway that it calls from several sides, refusals and streams among them', async () => {
    const tally = await hammer(target, so(48));
    const text = tally.text(1);
    expect(text).toMatch(/No fault\.\n$/);
    expect(text).toMatch(/chat_stream 200 +8\n(.*\n)*.*wrong_zone 403 +8\n/);
    expect([tally.ok, tally.calls, tally.receipts]).toEqual([true, 48, 32]);
    expect(tally.proofs).toBeGreaterThanOrEqual(48);
    expect(tally.consistencies).toBeGreaterThan(0);
  });

  it('finds a checkpoint over another tree', async () => {
    const tally = await hammer(
      lying(
        (note) => note.replace(/\n[A-Za-z0-9+/]{43}=\n/, `\n${'A'.repeat(43)}=\n`),
        /^\/log\/checkpoint$/,
      ),
      so(6),
    );
    expect([tally.ok, tally.text(1)]).toEqual([false, expect.stringContaining('a checkpoint is forged')]);
  });

  it('finds where an answer ran that its receipt does not say', async () => {
    const tally = await hammer(
      lying((answer) => answer.replaceAll('eu-central-1', 'eu-west-1'), /^\/v1\/receipts\//),
      { ...so(1), tries: 1 },
    );
    expect([tally.ok, tally.text(1)]).toEqual([false, expect.stringContaining('forged')]);
  });
});
