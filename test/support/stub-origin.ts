import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '../../origin/listening.ts';
import { REFUSALS_PATH } from '../../shared/assertion.ts';
import { HEADER } from '../../shared/headers.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A request or a report as it arrived, in the order of arrival. */
export interface Arrivals<T> {
  readonly all: readonly T[];
  /** The first one that no call of `next` has given yet; waits for it. */
  readonly next: () => Promise<T>;
}

export interface StubOrigin {
  readonly url: string;
  readonly calls: Arrivals<IncomingMessage>;
  /** The assertions of the reports that were sent here. */
  readonly reports: Arrivals<string>;
  /** Sets how calls are answered; without an argument: 200 once the body has been read. */
  readonly answerCalls: (handler?: Handler) => void;
  /** Sets how reports are answered; without an argument: 204. */
  readonly answerReports: (handler?: Handler) => void;
  readonly close: () => Promise<void>;
}

const answerOk: Handler = (request, response) => {
  request
    .resume()
    .once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
};
const takeReport: Handler = (_request, response) => response.writeHead(204).end();

/** A Node HTTP server in an origin's place that writes down what reaches it. */
export async function startStubOrigin(): Promise<StubOrigin> {
  const calls = arrivals<IncomingMessage>();
  const reports = arrivals<string>();
  let call = answerOk;
  let report = takeReport;
  const server = createServer((request, response) => {
    if (request.url === REFUSALS_PATH) {
      reports.add(String(request.headers[HEADER.assertion]));
      report(request, response);
    } else {
      calls.add(request);
      call(request, response);
    }
  });
  const url = await listen(server, { host: '127.0.0.1', port: 0 });
  return {
    url,
    calls,
    reports,
    answerCalls: (handler = answerOk) => {
      call = handler;
    },
    answerReports: (handler = takeReport) => {
      report = handler;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function arrivals<T>(): Arrivals<T> & { readonly add: (arrival: T) => void } {
  const all: T[] = [];
  const waiting: ((arrival: T) => void)[] = [];
  const unseen: T[] = [];
  return {
    all,
    add: (arrival) => {
      all.push(arrival);
      const waiter = waiting.shift();
      if (waiter === undefined) unseen.push(arrival);
      else waiter(arrival);
    },
    next: () => {
      const arrival = unseen.shift();
      return arrival === undefined
        ? new Promise((resolve) => waiting.push(resolve))
        : Promise.resolve(arrival);
    },
  };
}
