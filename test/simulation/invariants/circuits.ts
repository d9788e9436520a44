import type { Circuit } from '../../../origin/health/circuit.ts';
import type { Scene } from '../scene.ts';
import type { Visit } from '../visit.ts';
import { HEALTH } from '../written.ts';

const OPEN_MS = HEALTH.half_open_after_seconds * 1_000;

/** A probe that has held its slot for so long, in ms, is given up, and another may set out. */
const SLOT_MS = HEALTH.max_ttft_ms + 60_000;

/** A probe that has not reached its endpoint after so long, in ms, was never sent: its record had its time. */
const UNSENT_MS = 5_000;

/** A time in which no call may set out, in ms since the epoch, its own ends not among it. */
interface Shut {
  readonly from: number;
  until: number;
  readonly why: string;
}

/** What must hold for calls and circuits, over the life of one process. */
export class CircuitRules {
  readonly #scene: Scene;
  readonly #shut = new Map<string, Shut[]>();
  readonly #firstVisit: number;

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#firstVisit = scene.visits.length;
  }

  /** Takes note of a circuit; to be called whenever nothing moves. */
  look(endpoint: string, circuit: Circuit): void {
    this.#note(endpoint, circuit);
    if (circuit.kind === 'half_open') this.#oneProbe(endpoint, circuit);
  }

  /** A call or a probe was given leave at `begunAt`. */
  arrived({ endpoint, begunAt }: Visit): void {
    const shut = this.#shut.get(endpoint)?.find(({ from, until }) => from < begunAt && begunAt < until);
    if (shut) this.#scene.broken(`a call set out to ${endpoint} while ${shut.why}`);
  }

  /** An operator has ordered something else. */
  ordered(endpoint: string): void {
    const now = this.#scene.clock.now();
    for (const shut of this.#shut.get(endpoint) ?? []) shut.until = Math.min(shut.until, now);
  }

  #note(endpoint: string, circuit: Circuit): void {
    const { since, coolUntil, kind } = circuit;
    if (kind === 'open')
      this.#shutFor(endpoint, since, since + OPEN_MS, `its circuit was open since ${since}`);
    if (coolUntil !== undefined && kind !== 'forced_closed') {
      this.#shutFor(endpoint, this.#scene.clock.now(), coolUntil, 'it wanted to be left alone');
    }
    if (kind === 'forced_open' && circuit.until !== undefined) {
      this.#shutFor(endpoint, since, circuit.until, 'an operator kept it shut');
    }
  }

  #shutFor(endpoint: string, from: number, until: number, why: string): void {
    const known = this.#shut.get(endpoint) ?? [];
    if (!known.some((one) => one.until === until && one.why === why)) known.push({ from, until, why });
    this.#shut.set(endpoint, known);
  }

  #oneProbe(endpoint: string, circuit: Extract<Circuit, { readonly kind: 'half_open' }>): void {
    const { since } = circuit;
    const now = this.#scene.clock.now();
    const out = this.#scene.visits
      .slice(this.#firstVisit)
      .filter((visit) => visit.endpoint === endpoint && !visit.told)
      .filter(({ begunAt }) => begunAt >= since && now - begunAt < SLOT_MS);
    if (out.length > 1) this.#scene.broken(`${out.length} probes were out at ${endpoint}, half open`);
    const overdue = circuit.probe === 'taken' && now - circuit.takenAt > UNSENT_MS;
    if (overdue && out.length === 0)
      this.#scene.broken(`the slot of a probe at ${endpoint} was not given back`);
  }
}
