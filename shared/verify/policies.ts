import { hash } from 'node:crypto';
import { policyFile } from '../bundle.ts';
import { checkPacks } from '../pack-rules.ts';
import type { PolicyInForce } from '../policy-in-force.ts';
import { checkPolicy } from '../policy-rules.ts';
import { parsePolicyStream } from '../policy-stream.ts';
import type { AuditRecord } from '../record.ts';
import { err, ok, type Result } from '../result.ts';
import type { NamedFile } from './lines.ts';
import type { FaultKind, Faults } from './report.ts';

type Cited = Result<PolicyInForce, { readonly fault: FaultKind; readonly reason: string }>;

/** The policies of a bundle by the SHA-256 of their streams, which is what records cite. */
export class PolicyShelf {
  readonly #files = new Map<string, NamedFile>();
  readonly #read = new Map<string, Cited>();

  constructor(files: readonly NamedFile[], faults: Faults) {
    for (const file of files) {
      const sha256 = hash('sha256', file.bytes);
      this.#files.set(sha256, file);
      if (!file.name.endsWith(`-${sha256.slice(0, 8)}.yaml`)) {
        faults.add('damaged', `${file.name} is not the policy whose hash is in its name`);
      }
    }
  }

  /** Every policy that can be read, whether or not a record cites it. */
  all(): readonly PolicyInForce[] {
    return [...this.#files.keys()].flatMap((sha256) => {
      const read = this.#readOnce(sha256);
      return read.ok ? [read.value] : [];
    });
  }

  /** The policy version that a record cites, with the packs that were in force with it. */
  citedBy({ policy, policy_version: version, policy_sha256: sha256 }: AuditRecord): Cited {
    if (policy === undefined || version === undefined || sha256 === undefined) {
      return err({ fault: 'missing', reason: 'the record cites no policy version' });
    }
    const read = this.#readOnce(sha256);
    if (!read.ok) return read;
    const { document } = read.value;
    return document.policy === policy && document.version === version
      ? read
      : err({ fault: 'contradicts', reason: `the policy that is cited as ${policy}@${version} is another` });
  }

  #readOnce(sha256: string): Cited {
    const read = this.#read.get(sha256) ?? readStream(this.#files.get(sha256));
    this.#read.set(sha256, read);
    return read;
  }
}

function readStream(file: NamedFile | undefined): Cited {
  if (file === undefined) {
    return err({ fault: 'missing', reason: 'the policy version that the record cites is not in the bundle' });
  }
  const stream = parsePolicyStream(file.bytes);
  if (stream === undefined) {
    return err({ fault: 'malformed', reason: `${file.name} is no policy with the packs that it names` });
  }
  const { document, packs } = stream;
  const { policy, version } = document;
  if (file.name !== policyFile(policy, version, hash('sha256', file.bytes))) {
    return err({ fault: 'damaged', reason: `${file.name} is the policy ${policy}@${version}` });
  }
  const [broken] = [...checkPolicy(document), ...checkPacks(document, packs)];
  return broken === undefined
    ? ok(stream)
    : err({ fault: 'not_allowed', reason: `${file.name}: ${broken.path.join('.')} ${broken.message}` });
}
