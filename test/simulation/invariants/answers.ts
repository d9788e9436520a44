import { importJWK, jwtVerify } from 'jose';
import { HEADER } from '../../../shared/headers.ts';
import { receiptSchema } from '../../../shared/receipt.ts';
import type { Caller } from '../caller.ts';
import { TERMINATOR } from '../frames.ts';
import { type Scene, visitsOf } from '../scene.ts';
import type { Visit } from '../visit.ts';
import { REGION_HEADER } from '../written.ts';
import type { Places } from './places.ts';

const WHOSE = /<words of ([a-z-]+ visit \d+)>/g;

/** What must hold for what a caller got. */
export class AnswerRules {
  readonly #scene: Scene;
  readonly #places: Places;

  constructor(scene: Scene, places: Places) {
    this.#scene = scene;
    this.#places = places;
  }

  /** @param caller one whose call is over */
  async over(caller: Caller): Promise<void> {
    const visits = visitsOf(this.#scene, caller.ask.id);
    const { headers, status } = caller;
    if (status === undefined) return;
    const outcome = headers[HEADER.outcome];
    if (outcome === 'refused' && visits.length > 0)
      this.#broken(caller, 'was refused, but had been forwarded');
    if (outcome !== 'served' && status < 400) this.#broken(caller, `was ${String(outcome)} with ${status}`);
    if (outcome === 'served' && headers[HEADER.receipt] === undefined) this.#broken(caller, 'has no receipt');
    this.#words(caller, visits);
    await this.#receipt(caller);
  }

  /** Every word that a caller heard is of the one endpoint that it was told of, which ran where it may. */
  #words(caller: Caller, visits: readonly Visit[]): void {
    const names = [...new Set(Array.from(caller.text.matchAll(WHOSE), ([, name]) => name))];
    const [name] = names;
    if (name === undefined) {
      const served = caller.state === 'answered' && caller.headers[HEADER.outcome] === 'served';
      if (served) this.#broken(caller, 'was served without a word of an answer');
      return;
    }
    if (names.length > 1) this.#broken(caller, `heard ${names.join(' and ')}`);
    const endpoint = caller.headers[HEADER.endpoint];
    const visit = visits.findLast((one) => one.endpoint === endpoint);
    if (visit === undefined || !name.startsWith(`${endpoint} `)) {
      this.#broken(caller, `heard ${name} and was told of ${String(endpoint)}`);
      return;
    }
    this.#place(caller, visit);
    this.#whole(caller, visit);
  }

  #place(caller: Caller, { plan, endpoint, workload }: Visit): void {
    const region = plan.headers[REGION_HEADER];
    if (typeof region !== 'string') return;
    const allowed = this.#places.mayRunIn(region, endpoint, workload, caller.ask.member);
    if (!allowed) this.#broken(caller, `heard what ${endpoint} had made in ${region}`);
  }

  /** An answer that looks whole is whole, byte for byte; one that is not does not look so. */
  #whole({ state, text, ask }: Caller, { plan }: Visit): void {
    if (state !== 'answered') return;
    const said = plan.frames.map((frame) => frame.text).join('');
    const terminator = ask.stream ? TERMINATOR[ask.api] : '';
    // What an endpoint says after its end is nobody's business; an end that it forgot is put in its place.
    const whole = ask.stream ? `${said.split(terminator, 1)[0] ?? ''}${terminator}` : said;
    const looksWhole = !ask.stream || text.endsWith(terminator);
    if (looksWhole && text !== whole) this.#scene.broken(`${ask.id} took a broken answer for a whole one`);
    if (!looksWhole && !/"error"/.test(text))
      this.#scene.broken(`${ask.id} was not told that its answer broke`);
  }

  async #receipt(caller: Caller): Promise<void> {
    const token = caller.headers[HEADER.receipt];
    if (typeof token !== 'string') return;
    const key = await importJWK(this.#scene.documents.publicKey, 'EdDSA');
    const verified = await jwtVerify(token, key, {
      currentDate: new Date(this.#scene.clock.now()),
    }).catch(() => undefined);
    const claims = receiptSchema.safeParse(verified?.payload).data;
    if (claims === undefined) {
      this.#broken(caller, 'has a receipt that does not verify');
      return;
    }
    const logged = this.#scene.log.byId.get(claims.rec);
    const leaf = logged && Buffer.from(logged.row.leaf).toString('base64url');
    const { request_id, endpoint } = logged?.record ?? {};
    const told = caller.headers[HEADER.endpoint];
    const tied = leaf === claims.leaf && request_id === caller.ask.id && claims.rid === caller.ask.id;
    if (!tied || claims.endpoint !== endpoint || endpoint !== told) {
      this.#broken(caller, 'has a receipt that is not tied to its record');
    }
  }

  #broken({ ask }: Caller, what: string): void {
    this.#scene.broken(`${ask.id} ${what}`);
  }
}
