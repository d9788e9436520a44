import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { keyHash } from '../../origin/admit/key.ts';
import { readStack, type StackFile } from '../../origin/control/stack-file.ts';
import { startProvider } from '../../origin/dev/provider.ts';
import { newGatewayKey } from '../../origin/keys/gateway-key.ts';

const CLI = fileURLToPath(new URL('../../origin/cli/residency.ts', import.meta.url));
const run = promisify(execFile);

/** The command itself, as a person types it; resolves when it says that it is ready. */
async function start(...args: string[]): Promise<{ process: ChildProcess; said: string[] }> {
  const child = spawn(process.execPath, [CLI, 'start', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const said: string[] = [];
  const ended = once(child, 'exit').then(() => {
    throw new Error(`it ended: ${said.join('\n')}`);
  });
  const ready = (async () => {
    for await (const line of createInterface({ input: child.stdout })) {
      said.push(line);
      if (line.startsWith('Ctrl-C')) return;
    }
    throw new Error('it ended before it was ready');
  })();
  await Promise.race([ready, ended]);
  ended.catch(() => undefined);
  return { process: child, said };
}

async function stop(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  return (await ended)[0];
}

const residency = async (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
  run(process.execPath, [CLI, ...args]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );

const chat = (edge: string, zone: string, key: string | undefined): Promise<Response> =>
  fetch(`${edge}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'x-jurisdiction': zone, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'support-chat', messages: [{ role: 'user', content: 'hello' }] }),
  });

describe('residency start', () => {
  let data: string;
  let stack: StackFile;
  let running: Awaited<ReturnType<typeof start>>;

  beforeAll(async () => {
    data = join(await mkdtemp(join(tmpdir(), 'residency-stack-')), 'data');
    running = await start('--data', data, '--port', '0');
    stack = await readStack(data);
  });

  afterAll(async () => {
    await stop(running.process);
    await rm(join(data, '..'), { recursive: true, force: true });
  });

  it('serves a seeded tenant of each zone at an endpoint of that zone', async () => {
    const regions = new Map<string, string | null>();
    for (const { jurisdiction, key } of stack.tenants) {
      const response = await chat(stack.edge, jurisdiction, key);
      expect(response.status).toBe(200);
      regions.set(jurisdiction, response.headers.get('x-residency-region'));
    }
    expect(Object.fromEntries(regions)).toEqual({
      eu: 'eu-central-1',
      us: 'us-east-1',
      au: 'ap-southeast-2',
    });
  });

  it('prints calls that can be pasted, one of which is refused', async () => {
    const calls = running.said.filter((line) => line.startsWith('curl '));
    const answers = await Promise.all(calls.map((call) => run('bash', ['-c', `${call} -s`])));
    const statuses = answers.map(({ stdout }) => stdout.split('\r\n', 1)[0]);
    expect(statuses).toEqual([
      ...Array.from({ length: 4 }, () => 'HTTP/1.1 200 OK'),
      'HTTP/1.1 403 Forbidden',
    ]);
  });

  it('shows the records of all zones by `audit tail`, as lines and as JSON', async () => {
    const answered = await chat(stack.edge, 'eu', stack.tenants[0]?.key);
    const id = answered.headers.get('x-request-id') ?? '';
    await answered.text();
    const json = await residency('audit', 'tail', '--data', data, '--json');
    const records = json.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(records.filter(({ request_id }) => request_id === id).map(({ kind }) => kind)).toContain('served');
    expect(new Set(records.map(({ jurisdiction }) => jurisdiction))).toEqual(new Set(['eu', 'us', 'au']));
    const times: string[] = records.map(({ at }) => at);
    expect(times).toEqual(times.toSorted());
    const text = await residency('audit', 'tail', '--data', data, '--zone', 'eu');
    expect(text.stdout).toContain('helpdesk-de');
    expect(text.stdout).not.toContain('helpdesk-us');
  });

  it('plays the support product against what it started', async () => {
    const demo = fileURLToPath(new URL('../../origin/dev/demo.ts', import.meta.url));
    const { stdout } = await run(process.execPath, [demo], { cwd: join(data, '..') });
    const rows = stdout
      .trim()
      .split('\n')
      .map((row) => row.split(/ {2,}/));
    expect(
      rows.slice(1).map(([call, asked, answer, endpoint, region]) => [call, asked, answer, endpoint, region]),
    ).toEqual([
      ['German tenant', 'eu', '200', 'fra-chat', 'eu-central-1'],
      ['German tenant, Frankfurt down', 'eu', '200', 'dub-chat', 'eu-west-1'],
      ['US tenant', 'us', '200', 'iad-chat', 'us-east-1'],
      ['Australian tenant', 'au', '200', 'syd-chat', 'ap-southeast-2'],
      ['no jurisdiction tag', '-', '400 jurisdiction_missing', '-', '-'],
      ['German tenant asks for us', 'us', '403 jurisdiction_mismatch', '-', '-'],
      ['every EU endpoint down', 'eu', '503 no_compliant_endpoint', '-', '-'],
    ]);
    expect(rows[2]?.at(-1)).toBe(
      'pending fra-chat, failed fra-chat, pending dub-chat, served dub-chat, completed dub-chat',
    );
  });

  it('does what docs/local-stack.md says, command by command', async () => {
    const guide = await readFile(
      fileURLToPath(new URL('../../docs/local-stack.md', import.meta.url)),
      'utf8',
    );
    const blocks = [...guide.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
    const typed = blocks
      .join('')
      .replaceAll('data/stack.json', join(data, 'stack.json'))
      .replaceAll(/npm run residency -- (.*)/g, `${process.execPath} ${CLI} $1 --data ${data}`)
      .replaceAll('curl ', 'curl -fsS ');
    const ran = await run('bash', ['-e', '-c', typed], { maxBuffer: 16 * 1024 * 1024 });
    expect(ran.stderr).toBe('');
    for (const seen of ['"requests":', 'fra-chat', 'forced closed', 'by ana: circuit released', '# HELP'])
      expect(ran.stdout).toContain(seen);
    await residency('endpoints', 'release', 'dub-chat', '--data', data, '--why', 'the end of it');
  }, 60_000);

  it('has a stand-in whose lie about its region is seen, and takes it out', async () => {
    const control = `${stack.providers['fra-chat']}/_control`;
    const key = stack.tenants.find(({ jurisdiction }) => jurisdiction === 'eu')?.key;
    await fetch(`${control}/order`, { method: 'POST', body: '{"order":{"region":"us-east-1"}}' });
    // A probe may have found it out before the call does.
    expect([502, 200]).toContain((await chat(stack.edge, 'eu', key)).status);
    expect((await residency('endpoints', '--data', data, '--zone', 'eu')).stdout).toMatch(
      /fra-chat +yes +OUT +quarantined .*us-east-1 \(response_header\)/,
    );
    await fetch(`${control}/reset`, { method: 'POST' });
    const release = ['endpoints', 'release', 'fra-chat', '--data', data, '--why', 'it tells the truth again'];
    expect((await residency(...release)).code).toBe(0);
  });

  it('keeps secrets to their owner, and stores of gateway keys only hashes', async () => {
    for (const file of ['stack.json', 'keys/edge.jwk.json', 'tenants/eu.yaml', 'eu.db']) {
      expect((await stat(join(data, file))).mode & 0o077).toBe(0);
    }
    for (const folder of ['tenants', 'origins', 'policies', 'logs']) {
      for (const file of await readdir(join(data, folder))) {
        expect(await readFile(join(data, folder, file), 'utf8')).not.toContain('rgk_');
      }
    }
  });

  it('ends by Ctrl-C with exit code 0, and gives the same keys when it is started again', async () => {
    expect(await stop(running.process)).toBe(0);
    await expect(fetch(`${stack.origins.eu?.url}/healthz`)).rejects.toThrow();
    running = await start('--data', data, '--port', '0');
    const again = await readStack(data);
    expect(again.tenants).toEqual(stack.tenants);
    stack = again;
    expect((await chat(stack.edge, 'eu', stack.tenants[0]?.key)).status).toBe(200);
  });
});

describe('residency start --origin', () => {
  it('runs a configuration of one’s own against a real endpoint, making the keys that are missing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'residency-own-'));
    const engine = await startProvider({ name: 'own engine' });
    const key = newGatewayKey('acme');
    const file = async (name: string, document: object) => {
      await writeFile(join(folder, name), stringify(document));
      return join(folder, name);
    };
    await file('policy.yaml', {
      policy: 'own',
      version: '1.0.0',
      jurisdiction: 'ch',
      author: 'one',
      reviewer: 'other',
      allow: { countries: ['CH'] },
      workloads: { 'support-chat': { class: 'large', failover: { primary: 'rack', secondary: ['abroad'] } } },
    });
    await file('tenants.yaml', {
      tenants: { acme: { jurisdiction: 'ch', policy: 'own', keys: [{ id: 'k1', sha256: keyHash(key) }] } },
    });
    const config = await file('origin.yaml', {
      jurisdiction: 'ch',
      listen: { host: '127.0.0.1', port: 0 },
      admin: { host: '127.0.0.1', port: 0, token_env: 'OWN_ADMIN_TOKEN' },
      store: 'sqlite:log.db',
      edge_keys: 'edge.jwks.json',
      signing_key: 'origin.jwk.json',
      log_name: 'residency.example/ch',
      endpoints: [
        {
          id: 'rack',
          provider: 'openai-compatible',
          region: 'zurich-dc-1',
          country: 'CH',
          deployment: 'regional',
          base_url: `${engine.url}/v1`,
          models: { 'support-chat': 'llama3.2:latest' },
        },
        {
          id: 'abroad',
          provider: 'openai-compatible',
          region: 'eu-central-1',
          deployment: 'regional',
          base_url: `${engine.url}/v1`,
          models: { 'support-chat': 'llama3.2:latest' },
        },
      ],
      policies: ['policy.yaml'],
      tenants: 'tenants.yaml',
    });
    const data = join(folder, 'data');
    const { process: child, said } = await start('--data', data, '--port', '0', '--origin', config);
    try {
      const told = `1 problem in the configuration; to see them: npm run residency -- check --config ${config}`;
      expect(said).toContain(`Origin ch has ${told}`);
      expect(await readFile(join(data, 'logs', 'ch.log'), 'utf8')).toContain(`"msg":"${told}"`);
      const stack = await readStack(data);
      expect(stack.tenants).toEqual([{ id: 'acme', jurisdiction: 'ch' }]);
      const response = await chat(stack.edge, 'ch', key);
      expect(response.status).toBe(200);
      expect(engine.received[0]?.model).toBe('llama3.2:latest');
    } finally {
      await stop(child);
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('lists every fault of a configuration that cannot be used, and exits 2', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'residency-broken-'));
    const config = join(folder, 'origin.yaml');
    await writeFile(config, 'jurisdiction: mars\nlisten: nowhere\n');
    const { code, stderr } = await residency(
      'start',
      '--data',
      join(folder, 'data'),
      '--port',
      '0',
      '--origin',
      config,
    );
    await rm(folder, { recursive: true, force: true });
    expect(code).toBe(2);
    expect(stderr).toContain('jurisdiction');
    expect(stderr).toContain('listen');
  });
});

describe('the command line', () => {
  it.each([
    [['--help'], 0],
    [['start', '--help'], 0],
    [['origin', '--help'], 0],
    [['check', '--help'], 0],
    [['keygen', '--help'], 0],
    [['audit', '--help'], 0],
    [['audit', 'tail', '--help'], 0],
    [['nonsense'], 2],
    [['start', '--nonsense'], 2],
    [['origin'], 2],
    [['keygen'], 2],
    [['audit', 'tail', '--limit', 'x'], 2],
    [['audit', 'tail', '--data', '/nonexistent'], 2],
  ] as const)('%j exits %i', async (args, code) => {
    const result = await residency(...args);
    expect(result.code).toBe(code);
    if (code === 0) expect(result.stdout).toContain('Usage:');
    else expect(result.stderr).not.toBe('');
  });

  it('makes keys: a gateway key with its hash, and a signing key that is never overwritten', async () => {
    const made = JSON.parse((await residency('keygen', '--tenant', 'acme', '--json')).stdout);
    expect(made.sha256).toBe(keyHash(made.key));
    const folder = await mkdtemp(join(tmpdir(), 'residency-keygen-'));
    const file = join(folder, 'eu.jwk.json');
    expect((await residency('keygen', '--out', file)).code).toBe(0);
    expect((await stat(file)).mode & 0o077).toBe(0);
    expect(JSON.parse(await readFile(join(folder, 'eu.jwks.json'), 'utf8')).keys[0]).not.toHaveProperty('d');
    expect((await residency('keygen', '--out', file)).code).toBe(2);
    await rm(folder, { recursive: true, force: true });
  });
});
