import { z } from 'zod';
import { problem } from '../../errors.js';
import { counted } from '../../words.js';
import { defineCommand } from '../command.js';
import { convertEmbedded } from '../embedded.js';

const kinds = { sqlite: 'SQLite', leveldb: 'LevelDB' } as const;

/** `tws convert`: the databases of the embedded server in another storage. */
export const convert = defineCommand(
  z.object({ dir: z.string().optional() }),
  async ({ args: [to = ''], config: read }, io) => {
    if (to !== 'sqlite' && to !== 'leveldb') {
      throw problem('usage', { reason: `A storage is sqlite or leveldb, not ${to}.` });
    }
    const { dir } = read().embedded;
    const databases = await convertEmbedded({
      dir,
      to,
      onDatabase: ({ name, from, documents }) => {
        const done = from === to ? `is in ${kinds[to]} already` : `is in ${kinds[to]} now`;
        io.out(`${name}: ${counted(documents, 'document')}, ${done}.`);
      },
    });
    io.json({ storage: to, databases });
    return 0;
  },
);
