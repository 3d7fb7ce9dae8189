/** Words that begin with the same letters are taken for one: `verifying`, `verification`, `verified`. */
const STEM_LENGTH = 5;
/** Words of names that hardly tell one capability from another. */
const WEAK = new Set([
  'and',
  'of',
  'the',
  'in',
  'for',
  'to',
  'with',
  'across',
  'skill',
  'ability',
  'capability',
]);
const FILLER = new Set(
  `the a an and or of in to for with that this it is are be by as on at from not no any all when where which what who
  agent needs need must before after than then into its their has have had does do done rather one each every`.split(
    /\s+/,
  ),
);
const SAME_NAME = 0.75;
const SAME_DEFINITION = 0.6;

const stem = (word: string): string => word.slice(0, STEM_LENGTH);

const nameWords = (name: string): Set<string> =>
  new Set(
    name
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .filter((word) => word !== '' && !WEAK.has(word))
      .map(stem),
  );

const definitionWords = (definition: string): Set<string> =>
  new Set(
    definition
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .filter((word) => word.length > 1 && !FILLER.has(word))
      .map(stem),
  );

/** Words that both have, as a share of those that either has. */
function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const both = [...a].filter((word) => b.has(word)).length;
  const either = a.size + b.size - both;
  return either === 0 ? 0 : both / either;
}

/** Whether two capabilities are told apart by words alone, not by what they mean. */
export function areNearDuplicates(
  a: { readonly name: string; readonly definition: string },
  b: { readonly name: string; readonly definition: string },
): boolean {
  return (
    overlap(nameWords(a.name), nameWords(b.name)) >= SAME_NAME ||
    overlap(definitionWords(a.definition), definitionWords(b.definition)) >= SAME_DEFINITION
  );
}
