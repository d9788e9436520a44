/** Chance with a seed (mulberry32): the same seed gives the same run. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** Evenly from 0 up to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  hit(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number from `least` up to and with `most`. */
  int(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  pick<List extends readonly [unknown, ...unknown[]]>(list: List): List[number] {
    return list[Math.floor(this.next() * list.length)] ?? list[0];
  }

  /** One of the names, each as often as its weight says. */
  weighted<Name extends string>(weights: readonly (readonly [Name, number])[], otherwise: Name): Name {
    let left = this.next() * weights.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of weights) {
      left -= weight;
      if (left < 0) return name;
    }
    return otherwise;
  }
}
