/** The files of the project by path from its root, with their text. */
export type Sources = ReadonlyMap<string, string>;

/** Rooms from the bottom up. A file may import its own room and what stands below it, nothing beside or above. */
const FLOORS: readonly (readonly string[])[] = [
  ['shared'],
  ['origin/clock.ts', 'origin/limits.ts', 'origin/typed-command.ts', 'origin/usage-fault.ts'],
  ['origin/store', 'origin/endpoints', 'origin/health', 'origin/keys'],
  ['origin/policy', 'origin/audit'],
  ['origin/config', 'origin/admit', 'origin/forward', 'origin/metrics'],
  ['origin/exchange'],
  ['origin/control'],
  ['origin/server.ts'],
  ['origin/main.ts'],
  ['origin/dev'],
  ['origin/cli'],
];

/** Files of the spine: they stand in `origin/` itself and make up one room. */
const SPINE = new Set(
  [
    'attempt-ends',
    'attempt-records',
    'attempts',
    'count-estimate',
    'course',
    'violation',
    'listening',
    'live-health',
    'readiness',
    'broken-request',
    'deliver',
    'exchange',
    'gateway',
    'give-up',
    'local-routes',
    'open-log',
    'receipts-route',
    'refuse',
    'relay',
    'try-one',
    'reply',
  ].map((name) => `origin/${name}.ts`),
);

/** Files that nothing imports because something else starts them. */
const ENTRIES = [
  /^edge\/worker\.ts$/,
  /^origin\/cli\//,
  /^origin\/dev\/(demo|hammer|schemas)\.ts$/,
  /^origin\/store\/sqlite-worker\.ts$/,
  /^vitest\.config\.ts$/,
];

/** Calls that are not made, where they are allowed after all, and what to use instead. */
const BANNED: readonly { readonly call: RegExp; readonly except: RegExp; readonly instead: string }[] = [
  {
    call: /\bDate\.now\(|\bnew Date\(\)/,
    except: /^(edge|origin\/dev|origin\/cli|test)\/|^origin\/clock\.ts$/,
    instead: 'the clock that is passed in',
  },
  {
    call: /(?<![.\w#])setTimeout\(|\bsetInterval\(/,
    except: /^(edge|origin\/dev|origin\/cli|test)\/|^origin\/clock\.ts$/,
    instead: 'the clock that is passed in',
  },
  { call: /\bconsole\./, except: /^(edge|test)\//, instead: 'the logger' },
  { call: /\bMath\.random\(/, except: /^test\//, instead: 'node:crypto' },
  {
    call: /(?<![.\w])fetch\(/,
    except: /^(edge|origin\/dev|origin\/cli|test)\//,
    instead: 'the pools of origin/forward',
  },
  {
    call: /\bprocess\.env\b/,
    except: /^(origin\/(dev|cli|control\/stack-file)|test)\b/,
    instead: 'the configuration',
  },
  {
    call: /\bas (any|unknown as)\b|@ts-(ignore|nocheck)|biome-ignore/,
    except: /^test\//,
    instead: 'a type that holds',
  },
  { call: /\b(it|test|describe)\.(skip|only|todo)\b/, except: /^test\/tidy/, instead: 'a test that runs' },
  { call: /\b(TODO|FIXME|XXX)\b/, except: /^test\/tidy/, instead: 'the thing itself' },
];

/** Lines that a file of the product may have unless it is listed with more. */
const LINES = 150;

const roomOf = (path: string): string => {
  if (SPINE.has(path)) return 'origin/exchange';
  const parts = path.split('/');
  if (parts[0] !== 'origin') return parts[0] ?? '';
  return path === 'origin/config.ts' ? 'origin/config' : parts.slice(0, 2).join('/');
};

const floorOf = (room: string): number => FLOORS.findIndex((floor) => floor.includes(room));

export function importsOf(path: string, text: string): string[] {
  const relative = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(
    ([, target]) => target ?? '',
  );
  return relative.map((target) => new URL(target, `file:///${path}`).pathname.slice(1));
}

/** Imports that run up, sideways, or through a wall. */
export function brokenArrows(sources: Sources): string[] {
  return [...sources].flatMap(([path, text]) =>
    importsOf(path, text)
      .filter((target) => !mayImport(path, target))
      .map((target) => `${path} imports ${target}`),
  );
}

function mayImport(path: string, target: string): boolean {
  const [from, to] = [roomOf(path), roomOf(target)];
  if (from === to) return true;
  if (from === 'test') return true;
  if (from === 'edge' || from === 'shared') return to === 'shared';
  if (to === 'shared') return true;
  const [below, above] = [floorOf(to), floorOf(from)];
  return below !== -1 && above !== -1 && below < above;
}

export const bannedCalls = (sources: Sources): string[] =>
  [...sources].flatMap(([path, text]) =>
    BANNED.filter(({ call, except }) => !except.test(path) && call.test(code(text))).map(
      ({ call, instead }) => `${path} has ${call.source}: use ${instead}`,
    ),
  );

/** The text without its comments, which may speak of what is not done. */
const code = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\/|(?<![:'"])\/\/[^\n]*/g, '');

/** Files of the product that nothing of the product imports. */
export function deadFiles(sources: Sources): string[] {
  const product = [...sources].filter(([path]) => !path.startsWith('test/'));
  const imported = new Set(product.flatMap(([path, text]) => importsOf(path, text)));
  return product
    .map(([path]) => path)
    .filter((path) => !imported.has(path) && !ENTRIES.some((entry) => entry.test(path)));
}

/** Files of the product that are longer than they may be; `known` lists the long ones, which may only shrink. */
export const overgrown = (sources: Sources, known: Readonly<Record<string, number>>): string[] =>
  [...sources]
    .filter(([path]) => !path.startsWith('test/'))
    .map(([path, text]) => ({ path, lines: text.split('\n').length - 1, most: known[path] ?? LINES }))
    .filter(({ lines, most }) => lines > most)
    .map(({ path, lines, most }) => `${path} has ${lines} lines, ${most} at most: split it`);

export const badNames = (sources: Sources): string[] =>
  [...sources.keys()].filter((path) => /\/(utils?|helpers?|types|index|common|misc)\.ts$/.test(path));
