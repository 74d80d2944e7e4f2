import { z } from 'zod';
import { open } from '../../client.js';
import { problem } from '../../errors.js';
import { command } from '../command.js';

/** `tws view`: prints the document of an id, or the flow or task of a name. */
export const view = command(z.object({}), async ({ args, config: read }, io) => {
  const config = read();
  const given = args[0] ?? '';
  const { client, close } = open(config);
  try {
    const [name = given, owner = config.owner] = given.split('::');
    const doc =
      (await client.get(given)) ??
      (await client.find('flow', name, owner))[0] ??
      (await client.find('task', name, owner))[0];
    if (doc === undefined) throw problem('document_missing', { id: given });
    io.out(JSON.stringify(doc, null, 2));
    io.json(doc);
    return 0;
  } finally {
    await close();
  }
});
