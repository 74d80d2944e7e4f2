import { z } from 'zod';
import { documentKinds, openDatabase, type DocumentKind } from '../../client.js';
import { chosenOwner } from '../chosen-owner.js';
import { defineCommand, switchFlag } from '../command.js';
import { theOne } from '../naming.js';

const flags = z.object({
  task: switchFlag,
  flow: switchFlag,
  schedule: switchFlag,
  hook: switchFlag,
  job: switchFlag,
  result: z.string().optional(),
});

/**
 * `tws view`: prints the document of an id or of a name; where several may be meant it lists them.
 * With `--result` the result of a step of that job, also when it is kept as an attachment.
 */
export const view = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const config = read();
  const given = args[0] ?? '';
  const { client, close } = openDatabase(config);
  try {
    const kinds = said.result === undefined ? kindsOf(said) : (['job'] as const);
    const owner = chosenOwner(config);
    const doc = theOne(await client.lookUp(given, { kinds, owner }), given, kinds, io);
    const shown = said.result === undefined ? doc : await client.result(doc, said.result);
    io.block(JSON.stringify(shown, null, 2));
    io.json(shown);
    return 0;
  } finally {
    await close();
  }
});

function kindsOf(said: z.infer<typeof flags>): readonly DocumentKind[] | undefined {
  const kinds = documentKinds.filter((kind) => said[kind]);
  return kinds.length === 0 ? undefined : kinds;
}
