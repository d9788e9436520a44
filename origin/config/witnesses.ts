import { createPublicKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { isSameKey, parseVkey, verifierKey } from '../../shared/verifier-key.ts';
import type { Witness } from '../audit/witness-client.ts';
import { isLoopback } from '../endpoints/registry.ts';
import type { Fault } from './fault.ts';
import type { YamlFile } from './yaml-file.ts';

/** Far below COSIGNATURES_MAX, so that the keys of a log's life have room at each checkpoint. */
const WITNESSES_MAX = 16;

const vkey = z.string().transform((text, context) => {
  const refuse = (message: string) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  const key = parseVkey(text);
  if (!key.ok) return refuse(`is no verifier key: ${key.error}`);
  if (key.value.type !== 'cosignature')
    return refuse("is a log's own key (type 1): name the key that the witness cosigns with (type 4)");
  return key.value;
});

const url = z.string().transform((text, context) => {
  const refuse = (message: string) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  const parsed = URL.parse(text);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return refuse('is not an https URL');
  if (parsed.protocol === 'http:' && !isLoopback(parsed.hostname))
    return refuse('is http, which only a loopback host may be: use https');
  if (`${parsed.username}${parsed.password}${parsed.search}${parsed.hash}` !== '')
    return refuse('has a user name, password, query or fragment: leave it out');
  return parsed;
});

/** Who cosigns the log's checkpoints. */
export const witnessesSchema = z
  .array(
    z.strictObject({
      vkey: vkey.describe('Verifier key for cosignatures, <name>+<key id>+<base64> (C2SP signed-note).'),
      url: url.describe('Submission prefix; checkpoints go to <url>/add-checkpoint (C2SP tlog-witness).'),
    }),
  )
  .max(WITNESSES_MAX);

interface WitnessMembers {
  readonly witnesses: z.infer<typeof witnessesSchema>;
  readonly witness_quorum?: number;
}

/** The witnesses, each with a key of its own, and how many have to have cosigned; all of them by default. */
export function witnessesOf(
  yaml: YamlFile,
  { witnesses: entries, witness_quorum: quorum = entries.length }: WitnessMembers,
  ownKey: KeyObject | undefined,
  faults: Fault[],
): { readonly witnesses: readonly Witness[]; readonly witnessQuorum: number } {
  const keys = entries.map((entry) => entry.vkey);
  const own = ownKey && verifierKey('own', 'cosignature', createPublicKey(ownKey));
  for (const [index, key] of keys.entries()) {
    const path = yaml.at(['witnesses', index, 'vkey']);
    if (keys.slice(0, index).some((other) => isSameKey(other, key)))
      faults.push({ path, message: 'is the key of a witness above: each one counts once' });
    if (own && isSameKey(own, key))
      faults.push({
        path,
        message: "is the key of this log: a witness is somebody else, with somebody else's key",
      });
  }
  if (quorum > entries.length) {
    const message = `asks for ${quorum} witnesses, and there are ${entries.length}`;
    faults.push({ path: yaml.at(['witness_quorum']), message });
  }
  return { witnesses: entries.map(({ vkey: key, url }) => ({ key, url })), witnessQuorum: quorum };
}
