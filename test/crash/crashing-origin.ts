import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { z } from 'zod';
import { createRecordIds } from '../../origin/audit/record-id.ts';
import { type Clock, systemClock, timestamp } from '../../origin/clock.ts';
import { loadConfig } from '../../origin/config.ts';
import { type RunningEdge, startEdge } from '../../origin/dev/edge.ts';
import { type Provider, startProvider } from '../../origin/dev/provider.ts';
import { newSigningKey } from '../../origin/keys/signing-key.ts';
import { openLog } from '../../origin/open-log.ts';
import { parseTrustedKeys, parseWitnesses, type Trust } from '../../shared/verify/trust.ts';
import { ED25519 } from '../independent/note.ts';
import { vkeyOf } from '../independent/signer.ts';
import { aRow } from '../support/audit-records.ts';
import { chat, presented } from '../support/calls.ts';
import { startWitness, type TestWitness } from '../support/witness.ts';
import { ADMIN_TOKEN, keysOf, writeConfig } from '../support/zone.ts';
import { Evidence } from './evidence.ts';
import type { Failpoint } from './failpoint.ts';
import { type Life, Lives } from './life.ts';
import { type Relay, startRelay } from './relay.ts';

const LOG = 'residency.test/eu';
const TENANT = { id: 'acme' };
const DAY = 86_400_000;
/** Calls whose records are past their time when the first life begins. */
const OLD_CALLS = 40;

const publishedSchema = z.object({ checkpoint: z.object({ note: z.string() }) });

/**
 * An origin that crashes and is started again over its log, as often as a test wants, behind the edge; with all
 * that it ever gave away.
 */
export class CrashingOrigin {
  readonly provider: Provider;
  readonly evidence: Evidence;
  life: Life;
  readonly #folder: string;
  readonly #lives: Lives;
  readonly #key: string;
  readonly #edge: RunningEdge;
  readonly #relay: Relay;
  readonly #witness: TestWitness;
  #calls = 0;
  #version = 0;

  private constructor(
    parts: { folder: string; lives: Lives; key: string; provider: Provider; witness: TestWitness },
    rest: { edge: RunningEdge; relay: Relay; life: Life; evidence: Evidence },
  ) {
    this.#folder = parts.folder;
    this.#lives = parts.lives;
    this.#key = parts.key;
    this.provider = parts.provider;
    this.#witness = parts.witness;
    this.#edge = rest.edge;
    this.#relay = rest.relay;
    this.life = rest.life;
    this.evidence = rest.evidence;
  }

  static async start(): Promise<CrashingOrigin> {
    const folder = await mkdtemp(join(tmpdir(), 'residency-crash-'));
    const provider = await startProvider({ name: 'fra' });
    const keys = keysOf([TENANT]);
    const edgeKey = (await newSigningKey()).private;
    const endpoints = [{ id: 'fra', region: 'eu-central-1' }];
    const zone = { zone: 'eu', edgeKey, endpoints, tenants: [TENANT], countries: ['EEA'] } as const;
    const spec = { ...zone, policy: { retention_days: 30 } };
    const config = await writeConfig(folder, spec, new Map([['fra', provider]]), keys);
    const { d: _, ...jwk } = z
      .looseObject({ x: z.string(), d: z.string() })
      .parse(JSON.parse(await readFile(join(folder, 'origin.jwk.json'), 'utf8')));
    const witness = await startWitness({ name: 'witness.test/w', logs: [vkeyOf(LOG, ED25519, jwk.x)] });
    await appendFile(config, `witnesses: [{ vkey: "${witness.vkey}", url: "${witness.url}" }]\n`);
    await writeOldCalls(config);
    const lives = new Lives(config);
    const life = await lives.start();
    // The edge is not to be started anew for each life.
    const relay = await startRelay();
    relay.to(life.url);
    const origins = { eu: relay.url };
    const edge = await startEdge({ port: 0, origins, unattributedHome: 'eu', signingKey: edgeKey });
    await edge.putTenant('acme', { jurisdiction: 'eu', state: 'active', version: 1 });
    const evidence = new Evidence(folder, LOG, trustIn(JSON.stringify(jwk), witness.vkey));
    const key = keys.get('acme/main') ?? '';
    return new CrashingOrigin({ folder, lives, key, provider, witness }, { edge, relay, life, evidence });
  }

  /** Starts it again, as a person or a supervisor would. */
  async restart(): Promise<void> {
    this.life = await this.#lives.start();
    this.#relay.to(this.life.url);
  }

  /** Starts it, only to die at this write. */
  startDoomed(failpoint: Failpoint): Promise<NodeJS.Signals | null> {
    return this.#lives.startDoomed(failpoint);
  }

  /** What of all that it gave away its log does not hold to, and what else is wrong with it. */
  faults(): Promise<string[]> {
    return this.evidence.faults(OLD_CALLS + this.provider.receivedTotal);
  }

  /** Puts a version of the policy in force that the next life will be the first to see. */
  async newPolicy(): Promise<void> {
    const file = join(this.#folder, 'policy.yaml');
    this.#version += 1;
    const text = (await readFile(file, 'utf8')).replace(/^version: .*$/m, `version: 1.${this.#version}.0`);
    await writeFile(file, text);
  }

  /** One call through the edge, plain or streamed, read to wherever it ends. */
  async call(): Promise<void> {
    this.#calls += 1;
    const answer = await fetch(`${this.#edge.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        ...presented('eu', this.#key),
        'x-request-id': `call-${this.#calls}`,
        'content-type': 'application/json',
      },
      body: chat('support-chat', 'hello', { stream: this.#calls % 2 === 0 }),
    });
    const receipt = answer.headers.get('x-residency-receipt');
    if (receipt !== null) this.evidence.receipts.push(receipt);
    await answer.text().catch(() => undefined);
  }

  /** Whoever looks at the log just now takes the checkpoint away. */
  async look(): Promise<void> {
    const note = await this.#ask('GET', '/log/checkpoint');
    if (note !== undefined) this.evidence.note(note);
  }

  async publish(): Promise<void> {
    const answer = await this.#ask('POST', '/admin/checkpoints');
    if (answer !== undefined) this.evidence.note(publishedSchema.parse(JSON.parse(answer)).checkpoint.note);
  }

  /** An order to the admin address. */
  async order(path: string, body: object): Promise<void> {
    await this.#ask('POST', path, JSON.stringify({ by: 'ana', why: 'test', ...body }));
  }

  /** The answer, unless it says no or does not come, as from an origin that has just died. */
  async #ask(method: string, path: string, body?: string): Promise<string | undefined> {
    try {
      const answer = await fetch(this.life.admin + path, {
        method,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
        ...(body !== undefined && { body }),
      });
      const text = await answer.text();
      return answer.ok ? text : undefined;
    } catch {
      return undefined;
    }
  }

  /** Calls from several clients at once, and somebody who looks, until it has ended. */
  async load(clients: number, answered: () => void = () => undefined): Promise<void> {
    const { life } = this;
    const lane = async () => {
      while (!life.over) {
        await this.call();
        answered();
        await this.look();
      }
    };
    await Promise.all(Array.from({ length: clients }, lane));
  }

  async close(): Promise<void> {
    await this.#edge.close();
    await this.#relay.close();
    this.life.kill('SIGKILL');
    await this.life.end();
    await this.#lives.close();
    await this.provider.close();
    await this.#witness.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function trustIn(jwk: string, witness: string): Trust {
  const keys = parseTrustedKeys(jwk);
  const witnesses = parseWitnesses(witness);
  if (!keys.ok || !witnesses.ok) throw new Error('the keys of the test cannot be read');
  return { keys: keys.value, witnesses: witnesses.value, quorum: 0, log: LOG };
}

/** Records of a month ago, under a checkpoint of then, so that there is something to prune; one call has no end yet. */
async function writeOldCalls(file: string): Promise<void> {
  const config = loadConfig(file, { ...process.env, TEST_ADMIN_TOKEN: ADMIN_TOKEN });
  const [policy] = config.ok ? [...config.value.policies.values()] : [];
  if (!config.ok || policy === undefined) throw new Error('the configuration of the test cannot be used');
  const clock: Clock = { ...systemClock, now: () => systemClock.now() - 31 * DAY };
  const logger = pino({ enabled: false });
  const log = await openLog(config.value, { clock, logger, newId: createRecordIds(clock) });
  const { name, version, sha256 } = policy;
  const cited = { policy: name, policy_version: version, policy_sha256: sha256, at: timestamp(clock) };
  const rows = Array.from({ length: OLD_CALLS }, (_, call) => {
    const about = { ...cited, request_id: `old-${call}` };
    const pending = aRow('pending', about);
    return [pending, aRow('completed', { ...about, pending_id: pending.id })];
  });
  await log.store.append(rows.flat().slice(0, -1));
  await log.publisher.close();
  await log.store.close();
}
