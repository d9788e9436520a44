/** Something wrong in a configuration. Holds no value from a secret or from a credential-bearing member. */
export interface Fault {
  /** `file:line`, and the member's path in the file. */
  readonly path: string;
  /** What is wrong and what to do. */
  readonly message: string;
  /** Where something is only missing on this machine, such as a key: it takes it to start, and not to check. */
  readonly toStart?: true;
}

/** A member's path as a person writes it: `endpoints[0].region`. */
export const memberPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
