import { decimal } from '../base64.ts';

/** Hashes in a full tile, C2SP tlog-tiles "Merkle Tree". */
export const TILE_WIDTH = 256;

/** The highest level that a tile path may name. */
const MAX_LEVEL = 63;

/** Hashes of a tree at the places where tiles have them. */
export interface TileHashes {
  /**
   * Level 0: leaf hashes; level n: roots of full tiles of level n-1. MUST give exactly `count` hashes from place
   * `first` of that level, or reject.
   */
  read(level: number, first: number, count: number): Promise<readonly Uint8Array[]>;
}

/** What a tile path names; `width` is the number of hashes or entries, 1 to 256. */
export interface TileName {
  readonly level: number | 'entries';
  readonly index: number;
  readonly width: number;
}

/** The path of a tile below the prefix of a log, C2SP tlog-tiles: `tile/<L>/<N>[.p/<W>]`. */
export function tilePath(level: number | 'entries', index: number, width: number = TILE_WIDTH): string {
  const digits = String(index).padStart(Math.ceil(String(index).length / 3) * 3, '0');
  const place = digits.replaceAll(/\d{3}(?=\d)/g, 'x$&/');
  return `tile/${level}/${place}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
}

/** What a path in exactly the form of `tilePath` names; undefined for any other text. */
export function parseTilePath(path: string): TileName | undefined {
  const parts = /^tile\/(entries|\d{1,2})\/((?:x\d{3}\/){0,5}\d{3})(?:\.p\/(\d{1,3}))?$/.exec(path);
  const [, levelText = '', place = '', widthText] = parts ?? [];
  const level = levelText === 'entries' ? levelText : decimal(levelText);
  const index = Number(place.replaceAll(/[x/]/g, ''));
  const width = widthText === undefined ? TILE_WIDTH : decimal(widthText);
  if (parts === null || level === undefined || width === undefined) return undefined;
  if (level !== 'entries' && level > MAX_LEVEL) return undefined;
  if (width === 0 || width > TILE_WIDTH || !Number.isSafeInteger(index)) return undefined;
  // Written again, there is one form only: no needless `x000/`, no partial tile of full width.
  return tilePath(level, index, width) === path ? { level, index, width } : undefined;
}
