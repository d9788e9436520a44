import { MemoryStore } from '../support/memory-store.ts';
import { memoryTables } from '../support/memory-tables.ts';
import { storeBehaviour } from './behaviour.ts';

// The double that other tests write to has to behave as a store does.
storeBehaviour('memory', async () => {
  const tables = memoryTables();
  return { open: async () => new MemoryStore(tables), destroy: async () => {} };
});
