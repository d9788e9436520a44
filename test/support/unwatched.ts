import { Circuits, type Ticket } from '../../origin/health/circuits.ts';
import type { Health } from '../../origin/health/health.ts';
import { everyEndpointHealthy } from '../../origin/health/snapshot.ts';
import { Standings } from '../../origin/health/standings.ts';
import { ok } from '../../shared/result.ts';
import { ManualClock } from './manual-clock.ts';

/** Circuits that let everybody through and learn nothing. */
class OpenDoors extends Circuits {
  constructor() {
    super(new Standings({ clock: new ManualClock(), settingsOf: () => undefined }));
  }

  override snapshot() {
    return everyEndpointHealthy;
  }

  override begin(endpoint: string) {
    return ok<Ticket>({ endpoint, generation: 0, probe: false });
  }

  override report(): void {}

  override quarantine(): void {}
}

/** For tests of something else, whose calls would open circuits and quarantine endpoints for the calls after them. */
export const unwatched = (health: Health): Health => ({ ...health, circuits: new OpenDoors() });
