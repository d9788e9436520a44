import type { Context, Hono } from 'hono';
import { parseTilePath, TILE_WIDTH, type TileName } from '../../shared/merkle/tiles.ts';
import { cosignedNote } from '../audit/cosigned.ts';
import type { Gateway } from '../gateway.ts';
import { said } from './order-body.ts';

/** Bytes of an entry that a bundle can hold: its length stands in a uint16. */
const ENTRY_BYTES = 65_535;

const PREFIX = '/log/';

const NO_CHECKPOINT = said('No checkpoint has been published yet. Try again in a moment.');
const NO_TILE = said('The published tree has no such tile. /log/checkpoint tells its size.');
const PRUNED = said(
  'A record of this bundle is pruned: its body is gone after its time, its leaf hash is still in the tile of level 0.',
);
const TOO_LONG = said('A record of this bundle is longer than the form can hold. /admin/records has it.');

/** The log as C2SP tlog-tiles serves it: `/log/checkpoint`, `/log/tile/<L>/<N>[.p/<W>]`, `/log/tile/entries/…`. */
export function logRoutes(app: Hono, gateway: Gateway): void {
  app.get(`${PREFIX}checkpoint`, (c) => {
    const { latest } = gateway.publisher.published;
    if (latest === undefined) return c.json(NO_CHECKPOINT, 404);
    return c.body(cosignedNote(latest), 200, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
    });
  });
  app.get(`${PREFIX}tile/*`, async (c) => {
    const tile = parseTilePath(c.req.path.slice(PREFIX.length));
    const size = gateway.publisher.published.latest?.size ?? 0;
    if (tile === undefined || !isIn(size, tile)) return c.json(NO_TILE, 404);
    const { level, index, width } = tile;
    const first = index * TILE_WIDTH;
    if (level === 'entries') return entries(c, gateway, first, width);
    // A tile never changes.
    return octets(c, await gateway.log.hashes(level, first, width), 'private, max-age=31536000, immutable');
  });
}

/** Whether the tree of this size has so many hashes there: what is not published yet is not shown. */
function isIn(size: number, { level, index, width }: TileName): boolean {
  const hashes = Math.floor(size / TILE_WIDTH ** (level === 'entries' ? 0 : level));
  return index * TILE_WIDTH + width <= hashes;
}

/** Bodies leave when their time is over, so that no cache may keep them. */
async function entries(c: Context, { log }: Gateway, first: number, width: number): Promise<Response> {
  const rows = await log.after(first - 1, width);
  const bodies = rows.flatMap(({ canonical }) => (canonical === undefined ? [] : [Buffer.from(canonical)]));
  if (bodies.length < width) return c.json(PRUNED, 404);
  if (bodies.some(({ length }) => length > ENTRY_BYTES)) return c.json(TOO_LONG, 404);
  return octets(
    c,
    bodies.flatMap((body) => [lengthOf(body), body]),
    'no-store',
  );
}

/** Big-endian uint16, as C2SP tlog-tiles "Log entries" puts it before each entry. */
function lengthOf(body: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(body.length);
  return length;
}

const octets = (c: Context, parts: readonly Uint8Array[], cached: string): Response =>
  c.body(Uint8Array.from(Buffer.concat(parts)), 200, {
    'content-type': 'application/octet-stream',
    'cache-control': cached,
  });
