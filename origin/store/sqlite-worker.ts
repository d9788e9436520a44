import { parentPort, workerData } from 'node:worker_threads';
import { storeErrorOf } from './sqlite-fault.ts';
import { type Call, OPENING, type Reply, type SqliteRequest, type ThreadSetup } from './sqlite-messages.ts';
import { type OpenDatabase, openForReading, openForWriting } from './sqlite-open.ts';
import { prepareReads } from './sqlite-reads.ts';
import { prepareWrites } from './sqlite-writes.ts';
import { StoreError } from './store.ts';

type Rows = readonly object[];

const port = parentPort;
if (port === null) throw new Error('runs as a worker thread only');
const setup: ThreadSetup = workerData;

const reply = (message: Reply): void => port.postMessage(message);

function answer(call: number, work: () => Rows): boolean {
  try {
    reply({ call, ok: true, rows: work() });
    return true;
  } catch (error) {
    const { kind, message } = storeErrorOf(error);
    reply({ call, ok: false, kind, message });
    return false;
  }
}

function start(): { readonly open: OpenDatabase; readonly handle: (request: SqliteRequest) => Rows } {
  const open = setup.role === 'writer' ? openForWriting(setup) : openForReading(setup);
  const read = prepareReads(open.db);
  const write = setup.role === 'writer' ? prepareWrites(open.db) : undefined;
  const handle = (request: SqliteRequest): Rows => {
    switch (request.op) {
      case 'append':
      case 'saveCircuits':
      case 'publish':
      case 'cosign':
      case 'keepPolicies':
      case 'prune':
      case 'saveHold':
      case 'probe':
        if (write === undefined) throw new StoreError('failed', 'this log is open for reading only');
        write(request);
        return [];
      case 'close':
        open.close();
        return [];
      default:
        return read(request);
    }
  };
  return { open, handle };
}

const opened = answer(OPENING, () => {
  const { open, handle } = start();
  port.on('message', ({ call, request }: Call) => {
    answer(call, () => handle(request));
    if (request.op === 'close') port.close();
    // A transaction that could not even be rolled back ends with its connection, and that with the thread.
    else if (open.db.isTransaction) process.exit(1);
  });
  return [];
});
if (!opened) port.close();
