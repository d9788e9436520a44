import { connect, type Socket } from 'node:net';

/** One answer read from a connection; its body by `content-length`, which all of the gateway's own answers have. */
export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

const LIMIT_MS = 8_000;

/** A client that sends bytes as they are, and reads answers one by one while the connection lives. */
export class RawClient {
  readonly socket: Socket;
  #received = '';
  #closed = false;
  #wake: () => void = () => undefined;

  constructor(url: string) {
    this.socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), noDelay: true });
    this.socket.on('data', (chunk) => {
      this.#received += chunk.toString('latin1');
      this.#wake();
    });
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => {
      this.#closed = true;
      this.#wake();
    });
  }

  send(bytes: string | Buffer): void {
    this.socket.write(bytes);
  }

  /** Waits until the other side has taken all that was sent. */
  async flushed(): Promise<void> {
    await new Promise<void>((resolve) => this.socket.write('', () => resolve()));
  }

  /** The next whole answer, informational ones included. Rejects when the connection ends or 8 s pass before it. */
  async answer(): Promise<RawAnswer> {
    const deadline = setTimeout(() => this.socket.destroy(), LIMIT_MS);
    try {
      for (;;) {
        const answer = this.#take();
        if (answer) return answer;
        if (this.#closed) throw new Error(`the connection ended after: ${this.#received.slice(0, 200)}`);
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      clearTimeout(deadline);
    }
  }

  /** Resolves once the connection is closed. */
  async closed(): Promise<void> {
    while (!this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #take(): RawAnswer | undefined {
    const end = this.#received.indexOf('\r\n\r\n');
    if (end === -1) return undefined;
    const head = this.#received.slice(0, end);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
    const length = status < 200 ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const bodyEnd = end + 4 + length;
    if (this.#received.length < bodyEnd) return undefined;
    const body = this.#received.slice(end + 4, bodyEnd);
    this.#received = this.#received.slice(bodyEnd);
    return { status, head, body };
  }
}
