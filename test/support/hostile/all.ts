import { computing } from './expressions.js';
import { forgeries } from './forged.js';
import type { HostileDocument, Kind } from './kind.js';
import { schemas } from './schemas.js';
import { structures } from './structures.js';
import { values } from './values.js';

/** The ways of doing harm by documents. */
export const hostileKinds: readonly Kind[] = [
  ...computing,
  ...schemas,
  ...structures,
  ...values,
  ...forgeries,
];

/** The documents of the `n`-th variant of a kind, in the order in which they are to be stored. */
export function documentsOf({ name, make }: Kind, n: number): readonly HostileDocument[] {
  const id = `hostile-${name.replaceAll(/[^\w]+/g, '-')}-${n}`;
  return make(n, id).map((document, i) => ({ ...document, _id: `${id}-${i}` }));
}

/** A plugin whose parameters have a schema that a text may make slow to check. */
export const patternedPlugin = `export const params = {
  type: 'object',
  properties: {
    text: { type: 'string', pattern: '^(a+)+$' },
    list: { type: 'array', uniqueItems: true },
  },
};
export default () => ({});
`;
