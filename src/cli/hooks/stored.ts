import type { Client } from '../../client.js';
import { TwsError } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';

/** Returns all hooks; none where the design documents are older than hooks. */
export async function storedHooks(
  client: Pick<Client, 'hooks'>,
): Promise<readonly StoredDocument[]> {
  try {
    return await client.hooks();
  } catch (error) {
    if (error instanceof TwsError && error.code === 'view_missing') return [];
    throw error;
  }
}
