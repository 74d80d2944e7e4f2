import type { Client } from '../../client.js';
import { TwsError } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';

/** Returns all schedules; none where the design documents are older than schedules. */
export async function storedSchedules(
  client: Pick<Client, 'schedules'>,
): Promise<readonly StoredDocument[]> {
  try {
    return await client.schedules();
  } catch (error) {
    if (error instanceof TwsError && error.code === 'view_missing') return [];
    throw error;
  }
}
