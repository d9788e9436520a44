import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { TreeHead } from '../independent/checkpoint.ts';
import { Fault } from '../independent/fault.ts';
import { newWitnessSigner } from '../independent/signer.ts';
import { readSubmission, type Submission, type Verdict, WitnessBook } from './witness-book.ts';
import { cosignatureLines, flood, type WitnessMood } from './witness-mood.ts';

/** A request that came, and the status of its answer; unreadable ones have no checkpoint, `down` reads none. */
export interface SeenRequest {
  readonly origin?: string;
  readonly old?: number;
  readonly size?: number;
  readonly status: number;
}

export interface WitnessOptions {
  readonly name: string;
  /** Keys (vkey) of the logs that it knows; several of one name are keys of one log. */
  readonly logs: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export interface TestWitness {
  /** The submission prefix, before `/add-checkpoint`. */
  readonly url: string;
  readonly vkey: string;
  readonly seen: readonly SeenRequest[];
  /** The latest tree of a log that it keeps. */
  latest(origin: string): TreeHead | undefined;
  /** Loses what it knew of a log, as a witness set up anew would. */
  forget(origin: string): void;
  become(mood: WitnessMood): void;
  close(): Promise<void>;
}

/** More than 63 hashes and a checkpoint with all its signatures. */
const BODY_BYTES = 65_536;

type Reply = Verdict | { readonly status: 307 | 405 | 500 } | { readonly status: 0 };

/** Starts a witness that holds to C2SP tlog-witness, until a test tells it to become another. */
export async function startWitness({ name, logs, now = Date.now }: WitnessOptions): Promise<TestWitness> {
  const signers = { own: newWitnessSigner(name), stranger: newWitnessSigner(name) };
  const book = await WitnessBook.of(logs);
  const seen: SeenRequest[] = [];
  const held: (() => void)[] = [];
  let mood: WitnessMood = 'honest';

  const replyTo = async (request: IncomingMessage, submission: Submission | undefined): Promise<Reply> => {
    if (request.url !== '/add-checkpoint') return { status: 404 };
    if (request.method !== 'POST') return { status: 405 };
    if (mood === 'failing') return { status: 500 };
    if (mood === 'elsewhere') return { status: 307 };
    if (typeof mood === 'object') return { status: 409, size: mood.conflict };
    return submission === undefined ? { status: 400 } : book.judge(submission);
  };

  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const submission = mood === 'down' ? undefined : await submissionOf(request);
    const reply: Reply = mood === 'down' ? { status: 0 } : await replyTo(request, submission);
    seen.push({ ...shownOf(submission), status: reply.status });
    if (mood === 'slow') await new Promise<void>((resolve) => held.push(resolve));
    if (mood === 'down' || mood === 'cut_off') response.destroy();
    else if (mood === 'flooding') flood(response);
    else
      send(
        response,
        reply,
        submission && cosignatureLines(mood, submission, signers, Math.floor(now() / 1_000)),
      );
  };

  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a witness without a port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    vkey: signers.own.vkey,
    seen,
    latest: (origin) => book.latest(origin),
    forget: (origin) => book.forget(origin),
    become: (next) => {
      mood = next;
      for (const release of held.splice(0)) release();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The submission in a request's body; undefined where it holds none. */
async function submissionOf(request: IncomingMessage): Promise<Submission | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > BODY_BYTES) return undefined;
  }
  try {
    return readSubmission(Buffer.concat(chunks));
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

const shownOf = (submission: Submission | undefined): Omit<SeenRequest, 'status'> =>
  submission === undefined
    ? {}
    : { origin: submission.head.origin, old: submission.old, size: submission.head.size };

function send(response: ServerResponse, reply: Reply, lines = ''): void {
  if (reply.status === 307) response.setHeader('location', 'http://127.0.0.1:9/add-checkpoint');
  const conflict = 'size' in reply;
  response.setHeader('content-type', conflict ? 'text/x.tlog.size' : 'text/plain; charset=utf-8');
  response.statusCode = reply.status;
  response.end(conflict ? `${reply.size}\n` : reply.status === 200 ? lines : '');
}
