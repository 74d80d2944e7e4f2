import { resolve } from 'node:path';
import { z } from 'zod';
import { connectionOf } from '../../client.js';
import {
  claimForRestore,
  finishRestore,
  holdEngines,
  isOfSource,
  verifyRestored,
  writeRestored,
  writeRevisions,
  type BackedUp,
  type MoveOptions,
} from '../../client-rules.js';
import type { Config } from '../../config/load.js';
import { problem } from '../../errors.js';
import { sensitiveDatabases } from '../../model/sensitive.js';
import { counted } from '../../words.js';
import { readBackupFile, type BackupPart } from '../backup/file.js';
import { withStages } from '../stages.js';
import { factsOf, readWholeBackup, type WholeBackup } from '../backup/read-whole.js';
import { defineCommand, switchFlag } from '../command.js';
import type { Io } from '../io.js';
import { lateVaultOf, withVault } from '../sensitive-values.js';

const flags = z.object({ intoUsed: switchFlag });

/** `tws restore`: a backup into a database that is empty or not there yet; no engine works on it until it is told to. */
export const restore = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const [shown] = args;
  if (shown === undefined) throw problem('usage', { reason: 'Say which file.' });
  const path = resolve(io.cwd, shown);
  const config = read();
  const whole = await withStages(io, async (tell) => {
    tell(`checking ${shown}`);
    const found = await readWholeBackup(path, shown, io);
    const options = { config, io, tell, path, shown, whole: found, into: said.intoUsed };
    await restoreAll(options);
    return found;
  });
  const facts = factsOf(whole);
  const databases = facts.databases.map((one) => ({
    ...one,
    database: placeOf(config, one.part).database,
  }));
  io.json({ file: shown, ...facts, databases, engines: 'disabled' });
  for (const { database, documents } of databases) {
    io.out(`restored: ${database}, ${counted(documents, 'document')}, each compared`);
  }
  const parts = facts.databases.map(({ part }) => part);
  if (parts.includes('values') && !parts.includes('keys')) io.warn(keyless);
  const live = databases.reduce((sum, { live_jobs: jobs }) => sum + jobs, 0);
  io.out(
    `${counted(live, 'job')} ${live === 1 ? 'has' : 'have'} not ended. No engine and no worker begins a step here.`,
  );
  io.out(
    `Make sure that nothing works on the original any more, then let engines work here: tws enable '*' --database ${config.database}`,
  );
  return 0;
});

/** Values without keys are what a backup is meant to have, and what nobody expects at a restore. */
const keyless =
  'The backup holds no keys of subjects: sensitive values cannot be read here until they are stored anew, or the keys of NAME_subject_keys are restored from a backup that was made with --subject-keys.';

type Place = MoveOptions['from'];

/** Where a part goes: the databases of the settings, whatever they were called. */
function placeOf(config: Config, part: BackupPart): Place {
  const connection = connectionOf(config);
  const { values, keys } = sensitiveDatabases(config.database);
  const database = { main: config.database, values, keys }[part];
  return { ...connection, database };
}

type Restoring = {
  readonly config: Config;
  readonly io: Io;
  readonly tell: (stage: string, more?: string) => void;
  readonly path: string;
  readonly shown: string;
  readonly whole: WholeBackup;
  readonly into: boolean;
};

async function restoreAll(given: Restoring): Promise<void> {
  const { config, whole, into, tell } = given;
  const { head, parts } = whole;
  const done = new Map<BackupPart, number>();
  for (const { part } of parts) {
    const claim = { backup: head.id, into };
    if (part !== 'main') await prepareSensitive(config);
    done.set(part, await claimForRestore(placeOf(config, part), claim));
  }
  await holdEngines(placeOf(config, 'main'), head.made);
  await writeLines(given, done);
  tell('comparing');
  await finishRestore(placeOf(config, 'main'));
  for (const { part, tally } of parts) {
    await verifyRestored(placeOf(config, part), tally.current());
  }
}

async function prepareSensitive(config: Config): Promise<void> {
  await withVault(lateVaultOf(config), (vault) => vault.prepare());
}

/** Revisions, and characters of them, written in one request. */
const [mostDocs, mostLength] = [200, 4_000_000];

/** Writes what the lines say, from where an earlier restore of the same backup stopped. */
async function writeLines(given: Restoring, done: ReadonlyMap<BackupPart, number>): Promise<void> {
  const { config, io, path, shown, tell, whole } = given;
  let [part, line, length]: [BackupPart, number, number] = ['main', 0, 0];
  const batch: BackedUp[] = [];
  const designs: BackedUp[] = [];
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    const place = placeOf(config, part);
    await writeRevisions(place, batch.splice(0));
    await writeRestored(place, whole.head.id, line);
    length = 0;
    const stage = `writing ${place.database}`;
    tell(stage, `${stage}: line ${line} of ${whole.end.lines}`);
  };
  for await (const read of readBackupFile(path, shown)) {
    io.stop.throwIfAborted();
    if (read.kind === 'part') {
      await flush();
      part = read.part;
    }
    if (read.kind !== 'doc') continue;
    const { doc } = read;
    if (isOfSource(doc._id)) continue;
    if (doc._id.startsWith('_design/')) {
      if (part === 'main') designs.push(doc);
      continue;
    }
    if (read.line <= (done.get(part) ?? 0)) continue;
    batch.push(doc);
    line = read.line;
    length += lengthOf(doc);
    if (batch.length >= mostDocs || length > mostLength) await flush();
  }
  await flush();
  if (designs.length > 0) await writeRevisions(placeOf(config, 'main'), designs);
}

/** Most of a large document is in its attachments. */
function lengthOf({ _attachments: files }: BackedUp): number {
  return files === undefined ? 2_000 : JSON.stringify(files).length;
}
