import { z } from 'zod';
import { openDatabase, type Client } from '../../client.js';
import { defineCommand, switchFlag } from '../command.js';
import type { Io } from '../io.js';

/** `tws enable`: jobs for a flow run again, or an engine or a worker takes work again. */
export const enable = defineCommand(z.object({}), async ({ args, config: read }, io) => {
  const config = read();
  return switched(true, openDatabase(config), io, ({ setEnabled }) =>
    setEnabled(args[0] ?? '', true, config.owner),
  );
});

const disableFlags = z.object({ terminate: switchFlag });

/** `tws disable`: new jobs for a flow fail, or an engine or a worker takes no new work; what runs goes on. */
export const disable = defineCommand(disableFlags, async ({ args, flags, config: read }, io) => {
  const config = read();
  const [named = ''] = args;
  return switched(false, openDatabase(config), io, ({ setEnabled, tellWorker }) =>
    flags.terminate ? tellWorker(named, 'terminate') : setEnabled(named, false, config.owner),
  );
});

type Open = ReturnType<typeof openDatabase>;
type Done = { readonly id: string; readonly changed: boolean };

async function switched(
  enabled: boolean,
  { client, close }: Open,
  io: Io,
  change: (client: Client) => Promise<Done>,
): Promise<0> {
  try {
    const { id, changed } = await change(client);
    const word = enabled ? 'enabled' : 'disabled';
    io.out(changed ? `${word}: ${id}` : `skipping: ${id} (already ${word})`);
    io.json({ id, enabled, changed });
    return 0;
  } finally {
    await close();
  }
}
