/** What a shell takes as it stands. */
const PLAIN = /^[\w@%+=:,./-]+$/;

const quoted = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/**
 * A command of this program as a person can type it in a checkout of the project, where no install puts
 * `residency` on the path.
 */
export const typedCommand = (...words: readonly string[]): string =>
  ['npm run residency --', ...words.map(quoted)].join(' ');
