import type { Circuit, Drill, Standing } from './circuit.ts';
import type { CircuitSettings } from './settings.ts';
import { type EndpointHealth, type Unusable, USABLE } from './snapshot.ts';

/** Shortest wait that is asked for while a probe is out and overdue, in milliseconds. */
const OVERDUE_MS = 1_000;

const unusable = (why: string, retryAt: number): Unusable => ({ usable: false, why, retryAt });

/**
 * Whether an endpoint may be called now, and if not, why, in words that its callers may read: no operator's
 * name and none of their words. The circuit's times must have been passed up to `now`.
 *
 * @param tenant whose call it would be; undefined for one of the gateway itself
 */
export function healthOf(
  { circuit, drills }: Standing,
  tenant: string | undefined,
  settings: CircuitSettings,
  now: number,
): EndpointHealth {
  const health = healthOfCircuit(circuit, settings, now);
  if (!health.usable || tenant === undefined) return health;
  const drill = drillOf(drills, tenant, now);
  return drill === undefined ? health : unusable('circuit forced open for this tenant alone', drill.until);
}

const drillOf = (drills: readonly Drill[], tenant: string, now: number): Drill | undefined =>
  drills.find((drill) => drill.tenant === tenant && now < drill.until);

function healthOfCircuit(circuit: Circuit, settings: CircuitSettings, now: number): EndpointHealth {
  const { coolUntil } = circuit;
  switch (circuit.kind) {
    case 'forced_closed':
      return USABLE;
    case 'forced_open':
      return unusable('circuit forced open by an operator', circuit.until ?? Number.POSITIVE_INFINITY);
    case 'quarantined':
      return unusable(`quarantined until a person releases it: ${circuit.why}`, Number.POSITIVE_INFINITY);
    case 'open':
      return unusable(circuit.why, Math.max(circuit.until, coolUntil ?? 0));
    case 'half_open':
      if (circuit.probe === 'taken') {
        const due = Math.max(circuit.takenAt + settings.maxTtftMs, now + OVERDUE_MS);
        return unusable('circuit half open: its one probe is under way', due);
      }
      return coolUntil === undefined ? USABLE : busy(coolUntil);
    case 'closed':
      return coolUntil === undefined ? USABLE : busy(coolUntil);
  }
}

const busy = (coolUntil: number): Unusable =>
  unusable('busy: it asked to be left alone for a while', coolUntil);
