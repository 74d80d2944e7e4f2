import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { connectionOf } from '../../client.js';
import { readAll } from '../../client-rules.js';
import type { Config } from '../../config/load.js';
import { problem, TwsError } from '../../errors.js';
import { sensitiveDatabases } from '../../model/sensitive.js';
import { packageVersion } from '../../package.js';
import { counted } from '../../words.js';
import { createBackupFile, type BackupPart, type BackupWriter } from '../backup/file.js';
import { withStages } from '../stages.js';
import { factsOf, readWholeBackup } from '../backup/read-whole.js';
import { createTally } from '../backup/tally.js';
import { defineCommand, switchFlag } from '../command.js';
import type { Io } from '../io.js';

const flags = z.object({ verify: switchFlag, subjectKeys: switchFlag });

/** `tws backup`: the databases of a running installation into one file, or a look at such a file. */
export const backup = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const [given] = args;
  if (given === undefined) throw problem('usage', { reason: 'Say which file.' });
  const path = resolve(io.cwd, given);
  if (said.verify) return verify(path, given, io);
  if (existsSync(path))
    throw problem('usage', { reason: `${given} exists already; name another file, or remove it.` });
  const config = read();
  const made = await withStages(io, (tell) =>
    writeBackup(path, partsOf(config, said.subjectKeys), { config, io, tell }),
  );
  io.json({ file: given, ...made });
  for (const { database, documents } of made.databases) {
    io.out(`${database}: ${counted(documents, 'document')}`);
  }
  io.out(`written: ${given}, SHA-256 of its lines ${made.sha256}`);
  return 0;
});

type Part = { readonly database: string; readonly part: BackupPart };

/** The keys of sensitive values are a part only where they are asked for: a purge does not reach a backup. */
function partsOf({ database }: Config, subjectKeys: boolean): readonly Part[] {
  const { values, keys } = sensitiveDatabases(database);
  return [
    { database, part: 'main' },
    { database: values, part: 'values' },
    ...(subjectKeys ? [{ database: keys, part: 'keys' as const }] : []),
  ];
}

type Running = {
  readonly config: Config;
  readonly io: Io;
  readonly tell: (stage: string, more?: string) => void;
};

async function writeBackup(path: string, parts: readonly Part[], running: Running) {
  const writer = await createBackupFile(path, packageVersion());
  try {
    const databases: {
      database: string;
      part: BackupPart;
      documents: number;
      live_jobs: number;
    }[] = [];
    for (const { database, part } of parts) {
      const counts = await writePart(writer, { database, part }, running);
      if (counts !== undefined) databases.push({ database, part, ...counts });
    }
    const end = await writer.end(databases.reduce((sum, { documents }) => sum + documents, 0));
    return { databases, lines: end.lines, sha256: end.sha256 };
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}

/** Undefined where there is no such database beside the main one. */
async function writePart(
  writer: BackupWriter,
  { database, part }: Part,
  { config, io, tell }: Running,
): Promise<{ readonly documents: number; readonly live_jobs: number } | undefined> {
  const tally = createTally();
  let begun = false;
  let written = 0;
  const begin = async (): Promise<void> => {
    if (!begun) await writer.part(database, part);
    begun = true;
  };
  try {
    for await (const { docs, expected } of readAll(
      { ...connectionOf(config), database },
      io.stop,
    )) {
      await begin();
      await writer.docs(docs);
      for (const doc of docs) tally.add(doc);
      written += docs.length;
      const stage = `reading ${database}`;
      tell(stage, `${stage}: ${written} of ${counted(expected, 'document')}`);
    }
  } catch (error) {
    const isAbsent = error instanceof TwsError && error.code === 'database_missing';
    if (!isAbsent || part === 'main') throw error;
    return undefined;
  }
  await begin();
  return { documents: tally.current().size, live_jobs: tally.liveJobs() };
}

async function verify(path: string, shown: string, io: Io): Promise<number> {
  const facts = factsOf(await withStages(io, () => readWholeBackup(path, shown, io)));
  io.json({ file: shown, ...facts });
  for (const { database, documents, live_jobs: live } of facts.databases) {
    io.out(`${database}: ${counted(documents, 'document')}, ${counted(live, 'job')} not ended`);
  }
  io.out(`whole: made ${facts.made}, SHA-256 of its lines ${facts.sha256}`);
  return 0;
}
