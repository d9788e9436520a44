import type { CircuitRow, SequencedRow } from '../../origin/store/store.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { storeBehaviour } from './behaviour.ts';

// The double that other tests write to has to behave as a store does.
storeBehaviour('memory', async () => {
  const rows: SequencedRow[] = [];
  const circuits = new Map<string, CircuitRow>();
  return { open: async () => new MemoryStore(rows, circuits), destroy: async () => {} };
});
