import { z } from 'zod';

/** Tags of a definition; a mistake in them is no reason to run no job. */
export const tagsSchema = z.exactOptional(
  z.unknown().describe('Words by which lists choose tasks and flows: a list of strings.'),
);

/** The tags of any document; what is no list of strings has none. */
export function tagsOf({ tags }: Readonly<Record<string, unknown>>): readonly string[] {
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [];
}
