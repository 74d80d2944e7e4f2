import { z } from 'zod';
import { documentKinds, open, type DocumentKind } from '../../client.js';
import { command, switchFlag } from '../command.js';
import { theOne } from '../naming.js';

const flags = z.object({ task: switchFlag, flow: switchFlag, job: switchFlag });

/** `tws view`: prints the document of an id or of a name; where several may be meant it lists them. */
export const view = command(flags, async ({ args, flags: said, config: read }, io) => {
  const config = read();
  const given = args[0] ?? '';
  const { client, close } = open(config);
  try {
    const kinds = kindsOf(said);
    // An owner that nobody chose narrows nothing.
    const owner = config.origins['owner'] === 'default' ? undefined : config.owner;
    const doc = theOne(await client.lookUp(given, { kinds, owner }), given, kinds, io);
    io.out(JSON.stringify(doc, null, 2));
    io.json(doc);
    return 0;
  } finally {
    await close();
  }
});

function kindsOf(said: z.infer<typeof flags>): readonly DocumentKind[] | undefined {
  const kinds = documentKinds.filter((kind) => said[kind]);
  return kinds.length === 0 ? undefined : kinds;
}
