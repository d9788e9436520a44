import type { KeyObject } from 'node:crypto';
import { resolve } from 'node:path';
import { err, ok, type Result } from '../../shared/result.ts';
import type { VerifierKey } from '../../shared/verifier-key.ts';
import type { Zone } from '../../shared/zones.ts';
import type { Fault } from './fault.ts';
import { readSigningKey } from './keys.ts';
import { originFileSchema } from './schema.ts';
import { witnessesOf } from './witnesses.ts';
import { readYamlAs } from './yaml-file.ts';

/** Where the log of an origin lies, and whose signatures are on it. */
export interface LogPlace {
  readonly zone: Zone;
  readonly logName: string;
  /** File of the database. */
  readonly file: string;
  /** The origin's own key; undefined where it cannot be read from here. */
  readonly privateKey: KeyObject | undefined;
  readonly witnesses: readonly VerifierKey[];
}

/**
 * What the configuration of an origin says of its log, or every fault. The rest of the configuration may lack
 * what it needs: a log is checked where no provider key and no token is at hand.
 */
export function readLogPlace(file: string): Result<LogPlace, readonly Fault[]> {
  const form = readYamlAs(resolve(file), originFileSchema);
  if (!form.ok) return form;
  const { yaml, value } = form.value;
  const beside = (path: string) => resolve(yaml.file, '..', path);
  const faults: Fault[] = [];
  const key = readSigningKey(beside(value.signing_key));
  const privateKey = key.ok ? key.value.privateKey : undefined;
  const { witnesses } = witnessesOf(yaml, value, privateKey, faults);
  const path = /^sqlite:(.*)$/.exec(value.store)?.[1];
  if (path === undefined)
    faults.push({ path: yaml.at(['store']), message: 'is not of SQLite, which alone is checked' });
  if (faults.length > 0 || path === undefined) return err(faults);
  return ok({
    zone: value.jurisdiction,
    logName: value.log_name,
    file: beside(path),
    privateKey,
    witnesses: witnesses.map((witness) => witness.key),
  });
}
