import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { ThreadSetup } from './sqlite-messages.ts';
import { StoreError } from './store.ts';

/** `resg`: marks a file as a log of this program. */
const APPLICATION_ID = 0x72657367;

/** Applied in this order; the place in the list is the schema version that each one leads to. */
const MIGRATIONS = [
  '0001-log.sql',
  '0002-circuits.sql',
  '0003-endpoints.sql',
  '0004-tree.sql',
  '0005-policies.sql',
  '0006-retention.sql',
];

function pragma(db: DatabaseSync, name: 'application_id' | 'user_version'): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
}

const foreign = (path: string): StoreError =>
  new StoreError(
    'unfit',
    `${path} is a database of another program. Name another file as \`store\`, or move this one away.`,
  );

/** Refuses a file that somebody else filled, before anything in it is touched. */
export function claimFile(db: DatabaseSync, path: string): void {
  const id = pragma(db, 'application_id');
  if (id === APPLICATION_ID) return;
  const tables = db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.n;
  if (id !== 0 || tables !== 0) throw foreign(path);
}

const migration = (file: string): string =>
  readFileSync(new URL(`./migrations/sqlite/${file}`, import.meta.url), 'utf8');

/** What a database of this version has: the text of each table, index and trigger, by type and name. */
export function schemaAt(version: number): ReadonlyMap<string, string> {
  const db = new DatabaseSync(':memory:');
  for (const file of MIGRATIONS.slice(0, version)) db.exec(migration(file));
  const made = db.prepare('SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL').all();
  db.close();
  return new Map(made.map(({ type, name, sql }) => [`${type} ${name}`, String(sql)]));
}

/** Brings the schema to the version of this program, in one transaction. */
export function migrate(db: DatabaseSync, setup: ThreadSetup): void {
  const version = pragma(db, 'user_version');
  refuseNewer(version, setup.path);
  if (version === MIGRATIONS.length) return;
  db.exec('BEGIN IMMEDIATE');
  for (const file of MIGRATIONS.slice(version)) db.exec(migration(file));
  if (version === 0) db.prepare('INSERT INTO identity (one, zone) VALUES (1, ?)').run(setup.zone);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`);
}

/** Refuses a log of another program, of a version that this one does not know, or of another zone. */
export function identify(db: DatabaseSync, { path, zone }: ThreadSetup): void {
  if (pragma(db, 'application_id') !== APPLICATION_ID) throw foreign(path);
  refuseNewer(pragma(db, 'user_version'), path);
  const found = db.prepare('SELECT zone FROM identity').get()?.zone;
  if (found !== zone) {
    throw new StoreError(
      'unfit',
      `${path} holds the log of the zone ${found}, and this origin is of ${zone}. Name the file of this zone as \`store\`.`,
    );
  }
}

function refuseNewer(version: number, path: string): void {
  if (version <= MIGRATIONS.length) return;
  throw new StoreError(
    'unfit',
    `${path} has schema version ${version}, and this program knows ${MIGRATIONS.length} at most. Start the version that wrote it, or a newer one.`,
  );
}
