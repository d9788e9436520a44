import { typedCommand } from '../typed-command.ts';
import type { Fault } from './fault.ts';

/**
 * How much there is to mend in a configuration that can be used, in words with the command that shows it;
 * undefined where there is nothing.
 */
export function toMend(config: {
  readonly file: string;
  readonly problems: readonly Fault[];
  readonly warnings: readonly Fault[];
}): string | undefined {
  const { file, problems, warnings } = config;
  if (problems.length + warnings.length === 0) return undefined;
  const counts = [count(problems, 'problem'), count(warnings, 'warning')].filter(
    (part) => part !== undefined,
  );
  return `${counts.join(' and ')} in the configuration; to see them: ${typedCommand('check', '--config', file)}`;
}

const count = ({ length }: readonly unknown[], noun: string): string | undefined =>
  length === 0 ? undefined : `${length} ${noun}${length === 1 ? '' : 's'}`;
