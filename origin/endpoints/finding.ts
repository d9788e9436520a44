/** Something wrong with one entry of the registry: where in the entry, and what to do. */
export interface Finding {
  readonly path: readonly string[];
  readonly message: string;
}
