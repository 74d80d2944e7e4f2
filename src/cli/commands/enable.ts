import { z } from 'zod';
import { openDatabase } from '../../client.js';
import { defineCommand, type Command } from '../command.js';

/** `tws enable`: jobs for a flow run again, or an engine takes work again. */
export const enable = switchTo(true);

/** `tws disable`: new jobs for a flow fail, or an engine takes no new work; what runs goes on. */
export const disable = switchTo(false);

function switchTo(enabled: boolean): Command {
  return defineCommand(z.object({}), async ({ args, config: read }, io) => {
    const config = read();
    const { client, close } = openDatabase(config);
    try {
      const { id, changed } = await client.setEnabled(args[0] ?? '', enabled, config.owner);
      const word = enabled ? 'enabled' : 'disabled';
      io.out(changed ? `${word}: ${id}` : `skipping: ${id} (already ${word})`);
      io.json({ id, enabled, changed });
      return 0;
    } finally {
      await close();
    }
  });
}
