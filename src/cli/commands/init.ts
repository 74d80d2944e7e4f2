import { z } from 'zod';
import { prepareDatabase } from '../../client.js';
import type { Config } from '../../config/load.js';
import { problem } from '../../errors.js';
import { defineCommand, numberFlag, switchFlag } from '../command.js';
import { showDesign } from '../design.js';
import type { Io } from '../io.js';
import { sensitiveDatabases } from '../../model/sensitive.js';
import { vaultOf, withVault } from '../sensitive-values.js';
import { confirming } from '../prompt.js';
import { saveSettings } from '../../config/save.js';

const flags = z.object({
  confirm: z.boolean().default(true),
  copies: numberFlag(1),
  guard: z.boolean().optional(),
  sensitive: switchFlag,
});

/**
 * `tws init`: makes the database ready; run again it inserts what is missing, nothing else. A guard that
 * was left out or removed stays so until `--guard` asks for it.
 */
export const init = defineCommand(flags, async ({ flags: said, config: read }, io) => {
  const config = read();
  const target = said.confirm && io.interactive ? await confirmed(config, io) : targetOf(config);
  io.say(`confirming: database ${target.database} at ${target.url}`);
  const settings = { ...config, ...target };
  const { copies, guard } = said;
  const { database, design } = await prepareDatabase(settings, { copies, guard });
  io.out(
    database.database === 'created'
      ? `inserting: database ${target.database}`
      : `skipping: database ${target.database} (exists)`,
  );
  if (database.copies > 1) io.warn(copiesWarning(database.copies));
  else if (database.nodes !== undefined && database.nodes > 1) io.say(oneCopy(database.nodes));
  showDesign(design, target.app, io);
  if (said.sensitive) await prepareSensitive(settings, io);
  io.out('TWS initialized');
  io.json({ ...target, created: database.database === 'created', copies: database.copies, design });
  return 0;
});

/** The databases of sensitive values and of their keys. */
async function prepareSensitive(config: Config, io: Io): Promise<void> {
  const made = await withVault(vaultOf(config), (vault) => vault.prepare());
  const names = sensitiveDatabases(config.database);
  for (const kind of ['values', 'keys'] as const) {
    const isNew = made[kind] === 'created';
    io.out(
      isNew ? `inserting: database ${names[kind]}` : `skipping: database ${names[kind]} (exists)`,
    );
  }
}

/** What is confirmed; credentials are never shown, only where they come from. */
type Target = { readonly url: string; readonly database: string; readonly app: string };

function targetOf({ url, database, app }: Config): Target {
  return { url, database, app };
}

async function confirmed(config: Config, io: Io): Promise<Target> {
  const ask = await confirming(io, 'Initialising a database');
  const from = config.origins['user'] ?? 'not set';
  io.say(config.user === undefined ? 'credentials: none' : `credentials: *** (${from})`);
  const target = {
    url: await ask.text('URL of CouchDB:', config.url),
    database: await ask.text('Database:', config.database),
    app: await ask.text('Application (design document):', config.app),
  };
  if (target.url.includes('@')) {
    const reason =
      'Credentials belong in COUCH_USER and COUCH_PASS, not into the URL asked for here.';
    throw problem('usage', { reason });
  }
  const changed = Object.entries(target).filter(
    ([name, value]) => value !== config[name as keyof Target],
  );
  if (changed.length > 0 && (await ask.confirm('Keep these settings in tws.json?', true))) {
    await saveSettings(config, Object.fromEntries(changed));
  }
  return target;
}

function copiesWarning(copies: number): string {
  return (
    `warning: the database keeps ${copies} copies of each document. Several engines may be told that they won a step, ` +
    'so they confirm every claim: two writes and three reads a step instead of one write. ' +
    'A database made with --copies 1 and replicated to a second one is faster.'
  );
}

function oneCopy(nodes: number): string {
  return (
    `one copy of each document on the ${nodes} nodes of this cluster: only then a single engine is told that it won a step. ` +
    'Replicate the database to a second one to be safe from the loss of a node; --copies asks for another number.'
  );
}
