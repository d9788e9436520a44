import { z } from 'zod';
import { REGION_SOURCES } from '../../shared/record.ts';

/** Longest text that a circuit holds, in characters: room for a reason, and no more than a record could take. */
export const WORDS_MAX = 256;

/** Most game days that one endpoint can have at once, one for each tenant. */
export const DRILLS_MAX = 256;

const words = z.string().max(WORDS_MAX);
/** Milliseconds since the epoch. */
const time = z.number();

const common = {
  /** Grows with each state. What an attempt reports counts only while the state it began under still holds. */
  generation: z.int().nonnegative(),
  /** When this state was entered. */
  since: time,
  /** Since when no call but a probe's is let through, where that began in an earlier state. */
  outSince: time.exactOptional(),
  /** Until when the endpoint asked to be left alone. */
  coolUntil: time.exactOptional(),
};

const order = { ...common, by: words, why: words, until: time.exactOptional() };

/** The states of a circuit, as they are decided upon and as they are kept. */
export const circuitSchema = z.union([
  /** `failures` counts those in a row. */
  z.strictObject({ ...common, kind: z.literal('closed'), failures: z.int().nonnegative() }),
  z.strictObject({ ...common, kind: z.literal('open'), why: words, until: time }),
  z.strictObject({ ...common, kind: z.literal('half_open'), probe: z.literal('free') }),
  z.strictObject({ ...common, kind: z.literal('half_open'), probe: z.literal('taken'), takenAt: time }),
  /** By an operator, until they take it back or `until` comes. */
  z.strictObject({ ...order, kind: z.literal('forced_open') }),
  z.strictObject({ ...order, kind: z.literal('forced_closed') }),
  /** Has been seen, or may have been seen, outside its policy's regions. No time ends it: a person does. */
  z.strictObject({
    ...common,
    kind: z.literal('quarantined'),
    why: words,
    evidence: z
      .strictObject({ region: z.string().max(WORDS_MAX), source: z.enum(REGION_SOURCES) })
      .exactOptional(),
  }),
]);

export type Circuit = Readonly<z.infer<typeof circuitSchema>>;

/** A circuit that is open for one tenant alone and for a time. */
const drillSchema = z.strictObject({
  tenant: z.string().max(63),
  by: words,
  why: words,
  since: time,
  until: time,
});

export type Drill = Readonly<z.infer<typeof drillSchema>>;

/** All that is known of one endpoint's health, as it is kept from one start to the next. */
export const standingSchema = z.strictObject({
  circuit: circuitSchema,
  drills: z.array(drillSchema).max(DRILLS_MAX),
  released: time.exactOptional(),
});

export interface Standing {
  readonly circuit: Circuit;
  readonly drills: readonly Drill[];
  /** When a person last released it from a quarantine, in ms since the epoch. */
  readonly released?: number;
}

/** An endpoint of which nothing is known yet. */
export const UNTRIED: Standing = {
  circuit: { kind: 'closed', generation: 0, since: 0, failures: 0 },
  drills: [],
};

/** A text at the length that a circuit can hold. */
export const bounded = (text: string): string =>
  text.length <= WORDS_MAX ? text : `${text.slice(0, WORDS_MAX - 1)}…`;
