import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { openDatabase, type Client, type NamedKind } from '../../client.js';
import { problem } from '../../errors.js';
import { chosenOwner } from '../chosen-owner.js';
import { defineCommand, switchFlag } from '../command.js';
import { isInFolder, ownFolder, resolvePath, type PathBase } from '../paths.js';
import { localFiles } from '../pull/local-files.js';
import { allKinds, planPull } from '../pull/plan.js';
import { arePrunable, plannedOf, runPull, tell, type Pulled } from '../pull/run.js';
import type { PullStep } from '../pull/steps.js';
import { openSynced, type Synced } from '../pull/synced.js';

const flags = z.object({
  tasks: switchFlag,
  flows: switchFlag,
  schedules: switchFlag,
  hooks: switchFlag,
  ours: switchFlag,
  theirs: switchFlag,
  prune: switchFlag,
  dryRun: switchFlag,
  confirm: z.boolean().default(true),
});

type Said = z.infer<typeof flags>;

/** `tws pull`: what has changed in the database goes into the files of couch/tws, and what is new there gets a file. */
export const pull = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  if (said.ours && said.theirs) {
    throw problem('usage', { reason: '--ours and --theirs exclude each other.' });
  }
  const config = read();
  const place = { cwd: io.cwd, root: config.root };
  const isNamed = await namedFiles(args, place);
  const files = await localFiles(place);
  const { client, close } = openDatabase(config);
  try {
    const book = await openSynced(config, client);
    const steps = await planPull(client, {
      ...{ place, files, isNamed, project: config.project, owner: chosenOwner(config) },
      synced: book.agreed,
      kinds: kindsOf(said),
      prefer: said.ours ? 'ours' : said.theirs ? 'theirs' : undefined,
    });
    if (said.dryRun) {
      const documents = steps.map((step) => plannedOf(step, said.prune));
      for (const one of documents) tell(one, io, true);
      io.json({ dry_run: true, documents });
      return refuseConflicts(documents);
    }
    if (said.prune && !(await arePrunable(steps, said.confirm, io))) return 1;
    const isWhole = isNamed === undefined && kindsOf(said).length === allKinds.length;
    const gone = isWhole ? await goneOnBothSides(steps, book.agreed, client) : [];
    const pulled = await runPull(steps, { root: config.root, prune: said.prune, book }, io, gone);
    io.json({ documents: pulled });
    if (pulled.length === 0) io.say('There is nothing to pull.');
    return refuseConflicts(pulled);
  } finally {
    await close();
  }
});

/** What neither files nor database have any more is forgotten: another one of that id is a new one. */
async function goneOnBothSides(
  steps: readonly PullStep[],
  agreed: Synced,
  client: Client,
): Promise<readonly string[]> {
  const known = new Set(steps.flatMap(({ id }) => id ?? []));
  const gone: string[] = [];
  for (const id of agreed.keys()) {
    if (!known.has(id) && (await client.get(id)) === undefined) gone.push(id);
  }
  return gone;
}

function kindsOf({ tasks, flows, schedules, hooks }: Said): readonly NamedKind[] {
  const wanted = { task: tasks, flow: flows, schedule: schedules, hook: hooks };
  const kinds = allKinds.filter((kind) => wanted[kind]);
  return kinds.length === 0 ? allKinds : kinds;
}

/** Whether a path was named; undefined: none was. @throws TwsError `file_missing`, `usage` */
async function namedFiles(
  args: readonly string[],
  place: PathBase,
): Promise<((path: string) => boolean) | undefined> {
  if (args.length === 0) return undefined;
  const own = ownFolder(place.root);
  const paths = args.map((given) => resolvePath(given, place));
  for (const [i, path] of paths.entries()) {
    const given = String(args[i]);
    if (!isInFolder(own, path)) {
      throw problem('usage', { reason: `${given} is not in ${own}, where a pull writes.` });
    }
    if ((await stat(path).catch(() => undefined)) === undefined) {
      throw problem('file_missing', { file: given });
    }
  }
  return (path) => paths.some((named) => isInFolder(named, path));
}

/** @throws TwsError `pull_conflicts` */
function refuseConflicts(documents: readonly Pulled[]): number {
  const count = documents.filter(({ action }) => action === 'conflict').length;
  if (count > 0) throw problem('pull_conflicts', { count });
  return 0;
}
