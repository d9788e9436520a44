import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { OrderInput } from '../../origin/dev/provider.ts';
import type { AuditRecord } from '../../shared/record.ts';
import { type Answered, answerTo, presented } from '../support/calls.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { databaseFiles, findMarks, marked } from '../support/marker-scan.ts';
import { ADMIN_TOKEN } from '../support/zone.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

/** Headers that a caller fills with what nobody may keep. */
const CONFIDENTIAL_HEADERS: Readonly<Record<string, string>> = {
  'user-agent': marked('user-agent'),
  traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01`,
  tracestate: marked('tracestate'),
  cookie: `session=${marked('cookie')}`,
  'x-workload': marked('workload'),
  'x-forwarded-for': marked('forwarded'),
  'idempotency-key': marked('idempotency'),
  'x-residency-note': marked('reserved'),
  [marked('header-name')]: 'x',
};

/** What an endpoint's answer carries beside its content: a key, a cookie, an internal host. */
const LEAKY: OrderInput = {
  headers: {
    'x-api-key': marked('provider-key'),
    'set-cookie': [marked('cookie-1'), marked('cookie-2')],
    server: marked('host'),
    'x-request-id': `${marked('id')} with spaces`,
  },
};

interface Spoken {
  readonly api: 'OpenAI' | 'Anthropic';
  readonly path: string;
  readonly endpoints: readonly string[];
}
const APIS: readonly Spoken[] = [
  { api: 'OpenAI', path: '/v1/chat/completions', endpoints: ['fra', 'dub'] },
  { api: 'Anthropic', path: '/v1/messages', endpoints: ['fra-messages'] },
];
const CASES = APIS.flatMap((spoken) => [
  { ...spoken, form: 'plain', stream: false },
  { ...spoken, form: 'streamed', stream: true },
]);

let gateway: TestGateway;
let calls = 0;
const edgeConsole: string[] = [];
const processConsole: string[] = [];
/** Everything that the gateway itself worded for a caller: all answers' headers, and bodies that are no provider's. */
const told: string[] = [];

beforeAll(async () => {
  for (const method of ['debug', 'log', 'info', 'warn', 'error'] as const) {
    vi.spyOn(console, method).mockImplementation(
      (...words) => void processConsole.push(words.map(String).join(' ')),
    );
  }
  gateway = await startGateway({
    edge: { log: (message) => edgeConsole.push(message) },
    eu: {
      limits: { body_bytes: 200_000 },
      endpoints: [
        { id: 'fra', region: 'eu-central-1', regionHeader: 'x-ran-in', credential: marked('credential-fra') },
        { id: 'dub', region: 'eu-west-1', credential: marked('credential-dub') },
        {
          id: 'fra-messages',
          region: 'eu-central-1',
          provider: 'anthropic',
          regionHeader: 'x-ran-in',
          credential: marked('credential-messages'),
        },
      ],
    },
  });
});
afterAll(async () => {
  vi.restoreAllMocks();
  await gateway.close();
});
beforeEach(() => {
  for (const provider of gateway.eu.providers.values()) provider.reset();
});

const order = ({ endpoints }: Spoken, ordered: OrderInput): void => {
  for (const id of endpoints) gateway.eu.provider(id).order({ ...LEAKY, ...ordered });
};

const tools = ({ api }: Spoken): object[] => {
  const schema = { type: 'object', description: marked('schema') };
  return api === 'OpenAI'
    ? [{ type: 'function', function: { name: 'look_up', description: marked('tool'), parameters: schema } }]
    : [{ name: 'look_up', description: marked('tool'), input_schema: schema }];
};

const conversation = (spoken: Spoken, members: object = {}): string =>
  JSON.stringify({
    model: 'support-chat',
    max_tokens: 99,
    messages: [{ role: 'user', content: marked('prompt') }],
    tools: tools(spoken),
    user: marked('user'),
    metadata: { user_id: marked('metadata') },
    ...members,
  });

interface Call {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly path?: string;
  readonly signal?: AbortSignal;
}

/** One call that carries something confidential wherever it can; `worded` says by whom its body is. */
async function ask(
  spoken: Spoken,
  requestId: string,
  worded: 'gateway' | 'provider',
  call: Call = {},
): Promise<Answered> {
  const answer = await answerTo(gateway.edge.url, `${call.path ?? spoken.path}?q=${marked('query')}`, {
    headers: {
      'content-type': 'application/json',
      ...presented('eu', gateway.eu.key('acme')),
      ...CONFIDENTIAL_HEADERS,
      'x-request-id': requestId,
      ...call.headers,
    },
    body: call.body ?? conversation(spoken),
    ...(call.signal && { signal: call.signal }),
  });
  told.push(JSON.stringify(answer.headers));
  if (worded === 'gateway') told.push(answer.text);
  return answer;
}

const newId = (): string => `leak.${++calls}`;

async function recordsOf(requestId: string, kind: AuditRecord['kind']): Promise<readonly AuditRecord[]> {
  return await vi.waitFor(
    async () => {
      const records = await gateway.eu.recordsOf(requestId);
      expect(records.map((record) => record.kind)).toContain(kind);
      return records;
    },
    { timeout: 5_000 },
  );
}

const receivedBy = (endpoint: string): string =>
  gateway.eu
    .provider(endpoint)
    .received.map(({ headers, body }) => JSON.stringify(headers) + body.toString())
    .join();

/** What each call here leaves behind; the sinks are read when all of them have been made. */
describe.each(CASES)('a $form call of the $api API, full of confidential words, is on record', (spoken) => {
  const { stream } = spoken;
  const [first = ''] = spoken.endpoints;
  const body = conversation(spoken, { stream });

  it('when it is served with a completion', async () => {
    order(spoken, { text: marked('completion') });
    const id = newId();
    const answer = await ask(spoken, id, 'provider', { body });
    expect(answer.text).toContain('LEAKMARK');
    expect(receivedBy(first)).toContain(marked('prompt'));
    expect(receivedBy(first)).toContain(marked('credential'));
    expect((await recordsOf(id, 'completed')).map(({ kind }) => kind)).toEqual([
      'pending',
      'served',
      'completed',
    ]);
  });

  it('when it is served with a tool call', async () => {
    order(spoken, { toolCall: { name: 'look_up', arguments: JSON.stringify({ q: marked('arguments') }) } });
    const id = newId();
    expect((await ask(spoken, id, 'provider', { body })).text).toContain('-arguments');
    await recordsOf(id, 'completed');
  });

  it('when the endpoint rejects it and quotes prompt and credential', async () => {
    order(spoken, { status: 400, echo: ['prompt', 'credential'], error: { message: marked('verdict') } });
    const id = newId();
    const answer = await ask(spoken, id, 'provider', { body });
    expect([answer.status, answer.text.includes(marked('verdict'))]).toEqual([400, true]);
    await recordsOf(id, 'failed');
  });

  it('when every endpoint fails and quotes prompt and credential', async () => {
    order(spoken, { status: 500, echo: ['prompt', 'credential'], error: { message: marked('failure') } });
    const id = newId();
    expect((await ask(spoken, id, 'gateway', { body })).status).toBe(503);
    await recordsOf(id, 'failed');
  });

  it('when the endpoints do not accept our credential, and quote it', async () => {
    order(spoken, { status: 401, echo: ['credential'] });
    const id = newId();
    expect((await ask(spoken, id, 'gateway', { body })).status).toBe(503);
    await recordsOf(id, 'failed');
  });

  it('when the endpoints redirect it to an address that holds a key', async () => {
    order(spoken, { redirect: { location: `https://${marked('location')}.example/?key=${marked('key')}` } });
    const id = newId();
    expect((await ask(spoken, id, 'gateway', { body })).status).toBe(503);
    await recordsOf(id, 'failed');
  });

  it('when the endpoint says that it ran elsewhere, in words of its own', async () => {
    order(spoken, { headers: { 'x-ran-in': `${marked('region')} !` } });
    const id = newId();
    expect((await ask(spoken, id, 'gateway', { body })).status).toBe(502);
    await recordsOf(id, 'violation');
  });

  it('when the endpoint breaks off in mid-answer', async () => {
    const fault = stream
      ? ({ at: { contentFrames: 1 }, errorEvent: true, ending: 'end' } as const)
      : ({ at: { bytes: 40 }, ending: 'cut' } as const);
    order(spoken, { text: marked('broken completion'), fault, error: { message: marked('event') } });
    const id = newId();
    await ask(spoken, id, 'provider', { body }).catch(() => undefined);
    await recordsOf(id, 'interrupted');
  });

  it('when the caller hangs up', async () => {
    order(spoken, { gate: 'headers' });
    const id = newId();
    const hangUp = new AbortController();
    const call = ask(spoken, id, 'gateway', { body, signal: hangUp.signal }).catch(() => undefined);
    await gateway.eu.provider(first).waitFor(({ heldAt }) => heldAt === 'headers');
    hangUp.abort();
    await call;
    await recordsOf(id, 'interrupted');
  });

  const refusals: Readonly<Record<string, Call>> = {
    'its model is not in the policy': { body: conversation(spoken, { stream, model: marked('model') }) },
    'its model is no string': { body: conversation(spoken, { stream, model: { name: marked('model') } }) },
    'its body is no JSON': { body: `${body.slice(0, -1)},${marked('syntax')}` },
    'its body is too large': { body: conversation(spoken, { padding: marked('x').repeat(20_000) }) },
    'its path is no route': { path: `/v1/${marked('path')}` },
    'its key is of another vendor': {
      headers: { authorization: `Bearer sk-${marked('key')}`, 'x-tenant-id': 'acme' },
    },
    'its key was never made': {
      headers: { authorization: `Bearer rgk_acme_${marked('key').padEnd(50, 'x')}` },
    },
    'its zone is none': { headers: { 'x-jurisdiction': marked('zone') } },
    'its tenant is none': { headers: { 'x-tenant-id': marked('tenant') } },
    'its encoding is unknown': { headers: { 'content-encoding': marked('encoding') } },
  };
  it.each(Object.keys(refusals))('when it is refused because %s', async (why) => {
    const id = newId();
    const answer = await ask(spoken, id, 'gateway', refusals[why]);
    expect(answer.headers['x-residency-outcome']).toBe('refused');
    await recordsOf(id, 'refused');
  });
});

describe('a file full of confidential words', () => {
  const [openai] = APIS;
  if (openai === undefined) throw new Error('no API');

  it.each(['support-chat', marked('model')])('is on record as an upload for the model %s', async (model) => {
    const part = (name: string, value: string, more = '') =>
      `--b\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
    const file = part('file', marked('file content'), `; filename="${marked('file name')}.wav"`);
    const id = newId();
    order(openai, { text: marked('transcript') });
    await ask(openai, id, 'provider', {
      path: '/v1/audio/transcriptions',
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      body: `${part('model', model)}${file}${part('prompt', marked('hint'))}--b--\r\n`,
    });
    await recordsOf(id, model === 'support-chat' ? 'completed' : 'refused');
  });
});

describe('afterwards', () => {
  const secrets = (): string[] => [
    TRACE_ID,
    ...[...gateway.eu.keys.values(), ...gateway.us.keys.values()].map((key) => key.slice(-43)),
  ];
  const expectClean = (text: string) => expect(findMarks(text, secrets())).toEqual([]);

  it('the scan would find a mark, whichever way it is written', () => {
    const shapes = [marked('x'), 'leakmark', Buffer.from(marked('x')).toString('hex')];
    const encoded = ['', 'a', 'ab'].map((before) => Buffer.from(before + marked('x')).toString('base64'));
    for (const text of [...shapes, ...encoded, TRACE_ID, gateway.eu.key('acme')]) {
      expect([text, findMarks(`before ${text} after`, secrets())]).not.toEqual([text, []]);
    }
  });

  it('no line of the origins holds one', () => {
    expect(gateway.eu.logLines.length).toBeGreaterThan(0);
    expectClean([...gateway.eu.logLines, ...gateway.us.logLines].join('\n'));
  });

  it('neither the console of the edge nor that of the process holds one', () => {
    expectClean([...edgeConsole, ...processConsole].join('\n'));
  });

  it('nothing that the gateway told its callers holds one, in a header or in an error of its own', () => {
    expect(told.length).toBeGreaterThan(50);
    expectClean(told.join('\n'));
  });

  it("no record in the operators' list holds one", async () => {
    const answer = await answerTo(gateway.eu.origin.admin, '/admin/records?after=-1&limit=1000', {
      method: 'GET',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('"leak.1"');
    expectClean(answer.text);
  });

  it('no byte of the databases holds one, neither while they are in use nor once they are closed', async () => {
    for (const zone of [gateway.eu, gateway.us]) {
      const inUse = await databaseFiles(zone.folder);
      expect([...inUse.keys()]).toContain('log.db-wal');
      await zone.origin.close();
      const closed = await databaseFiles(zone.folder);
      for (const bytes of [...inUse.values(), ...closed.values()]) expectClean(bytes);
      if (zone === gateway.eu) expect([...inUse.values()].join('')).toContain('"leak.1"');
    }
  });
});
