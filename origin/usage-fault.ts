/** The command was used wrongly, or its input cannot be used: exit code 2. The message says what to do. */
export class UsageFault extends Error {}
