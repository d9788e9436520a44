/** How much a run does: enough to see that it runs, about a minute in all, or enough to go by. */
export type Scale = 'tiny' | 'quick' | 'full';

/** What a scenario does so much of, or so often, at each scale. */
export type ByScale = Readonly<Record<Scale, number>>;

export interface Figure {
  readonly name: string;
  readonly unit: string;
}

/** What one round gives: a number for each figure of the scenario, by its name. */
export type Values = Readonly<Record<string, number>>;

/** One of those that are compared. */
export interface Subject {
  readonly name: string;
  /** Runs one round. MUST reject where what was measured did not do its work. */
  round(): Promise<Values>;
}

/** The subjects of a scenario, with all that they need set up. */
export interface Stage {
  /** The first one is the base that the others are compared to. */
  readonly subjects: readonly [Subject, ...Subject[]];
  close?(): Promise<void>;
}

export interface Scenario {
  readonly name: string;
  /** One sentence: what is measured, and beside what. */
  readonly measures: string;
  readonly figures: readonly Figure[];
  /** Sets the subjects up. @param folder an empty one for whatever has to lie on a disk */
  stage(scale: Scale, folder: string): Promise<Stage>;
}
