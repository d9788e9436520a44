import { err, ok, type Result } from '../../shared/result.ts';
import type { KeyFileForm } from '../endpoints/provider.ts';
import { Secret } from '../endpoints/secret.ts';
import type { Fault } from './fault.ts';

/** What a header can carry (RFC 9110 section 5.5), without spaces: a line end in a key would be a new header. */
const HEADER_VALUE = /^[\x21-\x7e]{1,8192}$/;

/** The secret in an environment variable, or in words why there is none. The words never hold its value. */
export function secretFrom(
  env: NodeJS.ProcessEnv,
  name: string,
  keyFile?: KeyFileForm,
): Result<Secret, Omit<Fault, 'path'>> {
  const value = env[name];
  if (value === undefined || value === '') {
    return err({ message: `the environment variable ${name} is not set`, toStart: true });
  }
  const fault = keyFile?.is(value) ? keyFile.fault(value) : headerFault(value);
  return fault === undefined
    ? ok(new Secret(value))
    : err({ message: `the environment variable ${name} ${fault}` });
}

const headerFault = (value: string): string | undefined =>
  HEADER_VALUE.test(value) ? undefined : 'holds what no header can carry';
