import { z } from 'zod';
import { openDatabase, type Client } from '../../client.js';
import { problem } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import { defineCommand, switchFlag } from '../command.js';
import { confirming } from '../prompt.js';

const flags = z.object({ confirm: z.boolean().default(true), force: switchFlag });

/** `tws remove`: deletes documents, after a question; all are looked at before the first goes. */
export const remove = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const { client, close } = openDatabase(read());
  try {
    const docs: StoredDocument[] = [];
    for (const id of args) docs.push(await removable(client, id, said.force));
    if (said.confirm) {
      if (!io.interactive) throw problem('confirmation_needed', { count: docs.length });
      const ask = await confirming(io, 'Removing documents');
      const names = docs.map((doc) => `${String(doc['type'])} ${doc._id}`).join(', ');
      if (!(await ask.confirm(`Remove ${names}?`, false))) return 1;
    }
    for (const { _id, _rev } of docs) {
      await client.remove(_id, _rev);
      io.out(`removed: ${_id}`);
    }
    io.json({ removed: docs.map(({ _id }) => _id) });
    return 0;
  } finally {
    await close();
  }
});

/** A job that runs is somebody's work in progress. */
async function removable(client: Client, id: string, force: boolean): Promise<StoredDocument> {
  const doc = await client.get(id);
  if (doc === undefined) throw problem('document_missing', { id });
  const { type, state } = doc;
  const ended = state === '$$complete' || state === '$$cancelled';
  if (type === 'job' && !ended && !force) {
    throw problem('job_running', { id, state: typeof state === 'string' ? state : 'new' });
  }
  return doc;
}
