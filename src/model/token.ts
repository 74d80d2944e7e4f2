import { z } from 'zod';
import { momentSchema, namesSchema, textSchema } from './scalars.js';

/** Ids of tokens begin so. */
export const tokenPrefix = 'token:';

/**
 * A bearer token of a program. The token itself is shown once, when it is made; here is its hash, of
 * which it cannot be found out: it is 256 bits of chance.
 */
export const tokenSchema = z
  .looseObject({
    type: z.literal('token'),
    name: textSchema.describe('What it is for, for people.'),
    roles: namesSchema.describe('The roles of whoever shows it, as those of a user of CouchDB.'),
    hash: z
      .string()
      .regex(/^[0-9a-f]{64}$/, { error: 'must be SHA-256 in hex' })
      .describe('SHA-256 of the token, in hex.'),
    created: momentSchema.describe('When it was made.'),
    expires: z.exactOptional(momentSchema.describe('When it ends.')),
  })
  .describe('A bearer token of a program, by its hash.');

export type TokenDocument = z.infer<typeof tokenSchema> & { readonly _id: string };
