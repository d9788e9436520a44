import { verify } from 'node:crypto';
import { verifyReceipt } from '../../../shared/verify/single.ts';
import { verifyBundle } from '../../../shared/verify/verify.ts';
import { SampleLog } from '../../shared/verify/sample-log.ts';
import { bundleOf } from '../log-bundle.ts';
import type { ByScale, Scenario } from '../scenario.ts';
import { speedFigures, speedOf } from '../speed.ts';

const RECEIPTS: ByScale = { tiny: 20, quick: 3_000, full: 20_000 };

/** What a JWS signs, and the signature (RFC 7515 section 3.1). */
function signedPart(jws: string): { readonly input: Uint8Array; readonly signature: Uint8Array } {
  const dot = jws.lastIndexOf('.');
  return { input: Buffer.from(jws.slice(0, dot)), signature: Buffer.from(jws.slice(dot + 1), 'base64url') };
}

export const verifyReceipts: Scenario = {
  name: 'verify-receipts',
  measures:
    'verifying receipts on one core, alone and with all else in a bundle, beside the bare Ed25519 signature',
  figures: speedFigures('receipts'),
  stage: async (scale) => {
    const log = new SampleLog();
    for (let call = 0; call < RECEIPTS[scale]; call += 1) log.call(`call-${call}`);
    const { files, receipts } = await bundleOf(log);
    const count = receipts.length;
    const signed = receipts.map(signedPart);
    const { publicKey } = log.key.trusted;
    const trust = log.trust();
    const all = (holds: boolean) => {
      if (!holds) throw new Error('a receipt was not proven');
    };
    const bare = () => all(signed.every(({ input, signature }) => verify(null, input, publicKey, signature)));
    const alone = () => all(receipts.every((receipt) => verifyReceipt(receipt, trust).ok));
    const bundled = () => {
      const report = verifyBundle(files, trust, { strict: true });
      all(report.ok && report.receipts.length === count);
    };
    return {
      subjects: [
        speedOf('bare crypto.verify', count, bare),
        speedOf('verifyReceipt', count, alone),
        speedOf('verifyBundle, 3 records and 2 proofs to a receipt', count, bundled),
      ],
    };
  },
};
