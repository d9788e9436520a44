import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { recordSchema } from '../../shared/record.ts';
import { readStack, type StackFile } from '../control/stack-file.ts';
import { launch } from './launch.ts';

/** How long one call of the demo may take, in ms. */
const CALL_MS = 10_000;

interface Scene {
  readonly title: string;
  readonly tenant: string;
  /** `x-jurisdiction`, or undefined to leave it out. */
  readonly asked: string | undefined;
  /** Endpoints that answer 503 while the scene plays. */
  readonly down: readonly string[];
}

const EU_CHAT = ['fra-chat', 'dub-chat', 'sto-chat'];

const SCENES: readonly Scene[] = [
  { title: 'German tenant', tenant: 'helpdesk-de', asked: 'eu', down: [] },
  { title: 'German tenant, Frankfurt down', tenant: 'helpdesk-de', asked: 'eu', down: ['fra-chat'] },
  { title: 'US tenant', tenant: 'helpdesk-us', asked: 'us', down: [] },
  { title: 'Australian tenant', tenant: 'helpdesk-au', asked: 'au', down: [] },
  { title: 'no jurisdiction tag', tenant: 'helpdesk-de', asked: undefined, down: [] },
  { title: 'German tenant asks for us', tenant: 'helpdesk-de', asked: 'us', down: [] },
  { title: 'every EU endpoint down', tenant: 'helpdesk-de', asked: 'eu', down: EU_CHAT },
];

/** Plays the scenes against a running local stack and gives a row for each. */
async function play(stack: StackFile): Promise<string[][]> {
  const rows: string[][] = [];
  for (const scene of SCENES) {
    for (const endpoint of scene.down) await order(stack, endpoint, { status: 503 });
    const response = await call(stack, scene);
    for (const endpoint of scene.down) await order(stack, endpoint, {});
    const id = response.headers.get('x-request-id') ?? '';
    const answer = errorSchema.safeParse(await response.json()).data;
    rows.push([
      scene.title,
      scene.asked ?? '-',
      `${response.status} ${answer?.error.code ?? ''}`.trim(),
      response.headers.get('x-residency-endpoint') ?? '-',
      response.headers.get('x-residency-region') ?? '-',
      await recorded(stack, scene.tenant, id),
    ]);
  }
  return rows;
}

const errorSchema = z.object({ error: z.object({ code: z.string() }) });

function call({ edge, tenants }: StackFile, { tenant, asked }: Scene): Promise<Response> {
  const key = tenants.find(({ id }) => id === tenant)?.key ?? '';
  return fetch(`${edge}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(asked !== undefined && { 'x-jurisdiction': asked }),
    },
    body: JSON.stringify({
      model: 'support-chat',
      messages: [{ role: 'user', content: 'Where is my parcel?' }],
    }),
    signal: AbortSignal.timeout(CALL_MS),
  });
}

async function order({ providers }: StackFile, endpoint: string, behaviour: object): Promise<void> {
  const response = await fetch(`${providers[endpoint]}/_control/order`, {
    method: 'POST',
    body: JSON.stringify({ order: behaviour }),
    signal: AbortSignal.timeout(CALL_MS),
  });
  if (!response.ok) throw new Error(`the stand-in of ${endpoint} did not take its order`);
}

const pageSchema = z.object({ records: z.array(z.object({ record: recordSchema })) });

/** How often the log is asked for a call that has been answered and whose end is not on record yet. */
const ASKED_MAX = 50;

/** What the log of the tenant's own zone says of a call, once it says how the call ended. */
async function recorded(stack: StackFile, tenant: string, requestId: string): Promise<string> {
  for (let asked = 1; ; asked += 1) {
    const said = await recordsOf(stack, tenant, requestId);
    if (!/served [^,]*$/.test(said) || asked === ASKED_MAX) return said;
  }
}

async function recordsOf(
  { origins, tenants }: StackFile,
  tenant: string,
  requestId: string,
): Promise<string> {
  const origin = origins[tenants.find(({ id }) => id === tenant)?.jurisdiction ?? ''];
  if (origin === undefined) return '-';
  const response = await fetch(`${origin.admin}/admin/records?limit=50`, {
    headers: { authorization: `Bearer ${origin.admin_token}` },
    signal: AbortSignal.timeout(CALL_MS),
  });
  const { records } = pageSchema.parse(await response.json());
  return records
    .filter(({ record }) => record.request_id === requestId)
    .map(({ record }) => [record.kind, record.endpoint].filter((part) => part !== undefined).join(' '))
    .join(', ');
}

function table(rows: readonly string[][]): string {
  const all = [['call', 'asked', 'answer', 'endpoint', 'region', 'on record'], ...rows];
  const widths = (all[0] ?? []).map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** The stack that runs already, or one of the demo's own. */
async function withStack(show: (stack: StackFile) => Promise<void>): Promise<void> {
  const running = await readStack('data').catch(() => undefined);
  const alive =
    running && (await fetch(`${Object.values(running.origins)[0]?.url}/healthz`).catch(() => undefined));
  if (running && alive?.ok === true && Object.keys(running.providers).length > 0) return show(running);
  const data = await mkdtemp(join(tmpdir(), 'residency-demo-'));
  const stack = await launch({ data, port: 0, origins: [] });
  try {
    await show(stack.file);
  } finally {
    await stack.stop();
    await rm(data, { recursive: true, force: true });
  }
}

await withStack(async (stack) => {
  process.stdout.write(`${table(await play(stack))}\n`);
});
