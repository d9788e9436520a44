import { hash } from 'node:crypto';
import { parsePolicyStream } from '../../shared/policy-stream.ts';
import type { AuditRecord } from '../../shared/record.ts';
import type { PolicyReader } from '../store/policy-table.ts';
import type { FsckFaults } from './fsck-faults.ts';

/** Policies that are read at once: each may be large. */
const PAGE = 16;

/** Whether each policy that records cite is kept, and is the one of its hash. */
export class PolicyCheck {
  readonly #log: Pick<PolicyReader, 'policies'>;
  readonly #faults: FsckFaults;
  /** By the hash that is cited, the place of the first record that cites it. */
  readonly #cited = new Map<string, number>();

  constructor(log: Pick<PolicyReader, 'policies'>, faults: FsckFaults) {
    this.#log = log;
    this.#faults = faults;
  }

  see({ policy_sha256: cited }: AuditRecord, place: number): void {
    if (cited !== undefined && !this.#cited.has(cited)) this.#cited.set(cited, place);
  }

  async end(): Promise<void> {
    for (let after = ''; ; ) {
      const page = await this.#log.policies(after, PAGE);
      for (const { sha256, name, version, stream } of page) {
        this.#cited.delete(sha256);
        const document = hash('sha256', stream) === sha256 ? parsePolicyStream(stream)?.document : undefined;
        if (document?.policy !== name || document.version !== version)
          this.#faults.add('policy', `what is kept as ${name}@${version} (${sha256}) is another`);
      }
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.sha256;
    }
    for (const [sha256, place] of this.#cited)
      this.#faults.add('policy', `the policy ${sha256} is not kept`, { place });
  }
}
