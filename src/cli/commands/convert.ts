import { z } from 'zod';
import { problem } from '../../errors.js';
import { counted } from '../../words.js';
import { defineCommand } from '../command.js';
import { convertEmbedded } from '../embedded.js';
import { isStorageKind, storageKinds, storageNames } from '../../storage-kinds.js';

/** `tws convert`: the databases of the embedded server in another storage. */
export const convert = defineCommand(
  z.object({ dir: z.string().optional() }),
  async ({ args: [to = ''], config: read }, io) => {
    if (!isStorageKind(to)) {
      const reason = `A storage is ${storageKinds.join(' or ')}, not "${to}".`;
      throw problem('usage', { reason });
    }
    const { dir } = read().embedded;
    const databases = await convertEmbedded({
      dir,
      to,
      onDatabase: ({ name, from, documents }) => {
        const done =
          from === to ? `is in ${storageNames[to]} already` : `is in ${storageNames[to]} now`;
        io.out(`${name}: ${counted(documents, 'document')}, ${done}.`);
      },
    });
    io.json({ storage: to, databases });
    return 0;
  },
);
