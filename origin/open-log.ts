import type { Logger } from 'pino';
import { BrokenLog } from './audit/broken-log.ts';
import { shelve } from './audit/policy-shelf.ts';
import { Published } from './audit/published.ts';
import { createPublisher, type Publisher } from './audit/publisher.ts';
import { abandonOpenPendings } from './audit/recovery.ts';
import { headFile, type SignedHead } from './audit/signed-head.ts';
import { ownKeys } from './audit/signed-tree.ts';
import type { Clock } from './clock.ts';
import type { OriginConfig } from './config.ts';
import { openSqliteStore } from './store/sqlite.ts';
import { type Store, StoreError } from './store/store.ts';

export interface LogSetup {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: () => string;
  /** Stands in for the store that the configuration names. */
  readonly store?: Store | undefined;
  /** Stands in for the file beside that store. */
  readonly head?: SignedHead | undefined;
}

export interface OpenLog {
  readonly store: Store;
  readonly publisher: Publisher;
}

/**
 * Opens the log of a zone, holds it against what was signed over it, and ends what a crash left open. Rejects
 * with StoreError, `unfit` where the log must not go on; then everything is closed again.
 */
export async function openLog(config: OriginConfig, setup: LogSetup): Promise<OpenLog> {
  const { clock, logger, newId } = setup;
  const store = setup.store ?? (await openStore(config));
  const publisher = publisherOf(config, { ...setup, store });
  try {
    await publisher.start();
    await shelve(store, clock, config.policies.values());
    const abandoned = await abandonOpenPendings({ store, clock, newId });
    if (abandoned > 0) logger.warn({ abandoned }, 'calls that a crash had left open were ended as abandoned');
    return { store, publisher };
  } catch (cause) {
    await publisher.close();
    await store.close();
    throw cause instanceof BrokenLog ? new StoreError('unfit', cause.message) : cause;
  }
}

function publisherOf(
  config: OriginConfig,
  { store, ...setup }: LogSetup & { readonly store: Store },
): Publisher {
  const { logName, signingKey, witnesses, witnessQuorum } = config;
  const signer = { name: logName, privateKey: signingKey.privateKey };
  const keys = witnesses.map(({ key }) => key);
  const rule = { log: ownKeys(signer), witnesses: keys, quorum: witnessQuorum };
  const parts = { clock: setup.clock, logger: setup.logger, store };
  const head = setup.head ?? headFile(`${storeFile(config)}.checkpoint`);
  return createPublisher({ ...parts, head, signer, published: new Published({ ...parts, witnesses, rule }) });
}

const openStore = (config: OriginConfig): Promise<Store> =>
  openSqliteStore({ path: storeFile(config), zone: config.jurisdiction });

function storeFile({ store }: OriginConfig): string {
  switch (store.kind) {
    case 'sqlite':
      return store.file;
    case 'postgres':
      throw new StoreError('unfit', 'this build keeps its log in SQLite: set store to sqlite:<file>');
  }
}
