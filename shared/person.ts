/** Alphabets whose letters look like those of another. */
const ALPHABETS = [
  /\p{Script=Latin}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Coptic}/u,
];

/** Cyrillic and Greek letters, and the Latin ones that they look like, in either case (Unicode UTS #39, section 4). */
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  [
    ...['аa', 'вb', 'еe', 'кk', 'мm', 'нh', 'оo', 'рp', 'сc', 'тt', 'уy', 'хx', 'іi', 'јj', 'ѕs', 'һh'],
    ...['ԁd', 'ԛq', 'ԝw', 'ӏl', 'αa', 'βb', 'εe', 'ζz', 'ηh', 'ιi', 'κk', 'μm', 'νn', 'οo', 'ρp', 'τt'],
    ...['υy', 'χx'],
  ].map(([alike = '', latin = '']) => [alike, latin]),
);

/** Whether a name has letters of several alphabets, as a name has that is made to look like another. */
export const mixesAlphabets = (name: string): boolean =>
  ALPHABETS.filter((alphabet) => alphabet.test(name)).length > 1;

/**
 * What of a name tells one person from another: two that differ in letter case, spaces, characters that do not show
 * or letters that look alike have the same. Empty where nothing of the name shows.
 */
export const personKey = (name: string): string =>
  [
    ...name
      .normalize('NFKC')
      .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
      .replaceAll(/[\p{Z}\p{Cc}]+/gu, ' ')
      .trim()
      // By way of capitals, which `ß` and `ss` share.
      .toUpperCase()
      .toLowerCase(),
  ]
    .map((letter) => LOOK_ALIKES.get(letter) ?? letter)
    .join('');

/** By these words records name parts of the system as the ones who did something. */
const PARTS: ReadonlySet<string> = new Set(['gateway', 'edge', 'client', 'endpoint']);

/** Whether a name would be read as that of a part of the system, and not of a person. */
export const isPartOfSystem = (name: string): boolean => PARTS.has(personKey(name));
