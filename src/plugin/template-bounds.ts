/** So many tags may the templates of one step's parameters, or one template of a plugin, have. */
export const mostTags = 500;
/** So many characters may be between the braces of one tag. */
export const longestTag = 2_000;
/** So often may the loops of a template run, all together. */
export const mostIterations = 20_000;
/** So long may what is filled in become, in characters. */
export const longestOutput = 4_194_304;

/** Counts the tags of templates that belong together; throws where they are too many. */
export function createTagCount(): (template: string) => void {
  let tags = 0;
  return (template) => {
    tags += countOf(template);
    if (tags > mostTags) throw new Error(`there are more than ${mostTags} tags to fill in`);
  };
}

/** Throws where a tag is longer than it may be: reading it takes longer than its length. */
function countOf(template: string): number {
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
export function lengthOf(list: unknown): number {
  if (Array.isArray(list)) return list.length;
  return typeof list === 'object' && list !== null ? Object.keys(list).length : 0;
}
