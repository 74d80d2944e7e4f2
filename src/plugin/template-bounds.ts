/** So many tags may the templates of one step's parameters, or one template of a plugin, have. */
export const mostTags = 200;
/** So many characters may be between the braces of one tag. */
export const longestTag = 2_000;
/** So often may the loops of these templates run, all together. */
export const mostIterations = 20_000;
/** So long may what is filled in become, all together, in characters. */
export const longestOutput = 4_194_304;
/** So many values may be filled in for tags that stand alone, all together. */
export const mostValues = 200_000;
/** So long may the texts in these be, all together, in characters: they are handed on as they are. */
export const longestHandedOn = 67_108_864;

/** What the templates of one step may still cost. Each of these throws where it is too much. */
export type TemplateBounds = {
  /** Counts the tags of a template as it is written. */
  readonly countTags: (template: string) => void;
  /** Counts how often a loop over a list or an object runs. */
  readonly countRuns: (list: unknown) => void;
  /** Counts characters that are filled in. */
  readonly countText: (length: number) => void;
  /** Counts a value of any type that is filled in as it is. */
  readonly countValue: (value: unknown) => void;
  /** The text of a list or an object, which is made once however many tags ask for it. */
  readonly jsonOf: (value: object) => string;
  readonly listOf: (value: readonly unknown[]) => string;
  /** How many characters may still be filled in. */
  readonly textLeft: () => number;
};

export function createTemplateBounds(): TemplateBounds {
  let [tags, runs, characters] = [mostTags, mostIterations, longestOutput];
  let [values, handedOn] = [mostValues, longestHandedOn];
  const texts = { json: new WeakMap<object, string>(), list: new WeakMap<object, string>() };
  const countText = (length: number): void => {
    characters -= length;
    if (characters < 0) throw new Error(`it becomes longer than ${longestOutput} characters`);
  };
  const countHandedOn = (length: number): void => {
    handedOn -= length;
    if (handedOn < 0) throw new Error(`more than ${longestHandedOn} characters are filled in`);
  };
  const countValue = (value: unknown): void => {
    values -= 1;
    if (values < 0) throw new Error(`more than ${mostValues} values are filled in`);
    if (typeof value === 'string') countHandedOn(value.length);
    if (typeof value !== 'object' || value === null) return;
    for (const key in value) {
      if (!Array.isArray(value)) countHandedOn(key.length);
      countValue((value as Readonly<Record<string, unknown>>)[key]);
    }
  };
  return {
    jsonOf: (value) => once(texts.json, value, JSON.stringify),
    listOf: (value) => once(texts.list, value, (list) => list.join()),
    countTags: (template) => {
      tags -= tagsOf(template);
      if (tags < 0) throw new Error(`there are more than ${mostTags} tags to fill in`);
    },
    countRuns: (list) => {
      runs -= lengthOf(list);
      if (runs < 0) throw new Error(`its loops run more than ${mostIterations} times`);
    },
    countText,
    countValue,
    textLeft: () => characters,
  };
}

function once<T extends object>(
  made: WeakMap<object, string>,
  value: T,
  make: (value: T) => string,
): string {
  const text = made.get(value) ?? make(value);
  made.set(value, text);
  return text;
}

/** Throws where a tag is longer than it may be: reading it takes longer than its length. */
function tagsOf(template: string): number {
  let count = 0;
  for (let at = template.indexOf('{{'); at >= 0; at = template.indexOf('{{', at + 2)) {
    count += 1;
    const end = template.indexOf('}}', at);
    if ((end < 0 ? template.length : end) - at > longestTag) {
      throw new Error(`a tag is longer than ${longestTag} characters`);
    }
  }
  return count;
}

/** How many values a loop goes through. */
function lengthOf(list: unknown): number {
  if (Array.isArray(list)) return list.length;
  return typeof list === 'object' && list !== null ? Object.keys(list).length : 0;
}
