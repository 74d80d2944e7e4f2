import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { z } from 'zod';
import type { Config } from '../../config/load.js';
import { problem } from '../../errors.js';
import { defineCommand, switchFlag } from '../command.js';
import type { Io } from '../io.js';
import { packageRoot } from '../../package.js';
import { stripsTypes, typescriptProblem } from '../../plugin/find.js';
import {
  flowScaffold,
  flowTestScaffold,
  hookScaffold,
  jobScaffold,
  pluginScaffold,
  pluginTestScaffold,
  projectScaffold,
  scheduleScaffold,
  taskScaffold,
  type Scaffold,
} from '../scaffolds.js';
import { writeWhole } from '../disk.js';
import { installCommand, shellWord } from '../paths.js';

const kinds = ['project', 'task', 'flow', 'schedule', 'hook', 'job', 'plugin'] as const;
const argumentsSchema = z.tuple([
  z.enum(kinds, { error: `What is new must be one of ${kinds.join(', ')}.` }),
  z.string().regex(/^[A-Za-z0-9][\w.-]*$/, {
    error: 'The name must begin with a letter or digit and hold only letters, digits and _ . -',
  }),
]);

/** `tws new`: makes files to begin with; what exists is never overwritten. */
export const newThing = defineCommand(
  z.object({
    plugin: z.string().optional(),
    flow: z.string().optional(),
    ts: switchFlag,
    test: switchFlag,
  }),
  async ({ args, flags, config: read }, io) => {
    const parsed = argumentsSchema.safeParse(args);
    if (!parsed.success) {
      throw problem('usage', {
        reason: parsed.error.issues[0]?.message ?? 'It is not clear what.',
      });
    }
    const [kind, name] = parsed.data;
    const { ts, test } = flags;
    refuseFlags(kind, flags);
    const config = read();
    const root = kind === 'project' ? resolve(io.cwd, name) : config.root;
    const scaffolds = scaffoldsOf(kind, { name, config, ...flags });
    const made = await make(root, scaffolds, io);
    const schemas = kind === 'plugin' ? [] : await copySchemas(root);
    if (kind === 'plugin') sayNext(root, { ts, test, testPath: scaffolds.at(-1)?.path ?? '' }, io);
    if (kind === 'schedule') await sayTimes(scaffolds, io);
    if (kind === 'flow' && test) io.out('Next: npx tws test');
    if (kind === 'project') io.out(`Next: cd ${shellWord(relative(io.cwd, root))} && npx tws dev`);
    io.json({ files: [...made, ...schemas] });
    return 0;
  },
);

type NewFlags = {
  readonly ts: boolean;
  readonly test: boolean;
  readonly flow?: string | undefined;
};

/** @throws TwsError `usage`: an option is for other kinds */
function refuseFlags(kind: (typeof kinds)[number], { ts, test, flow }: NewFlags): void {
  if (ts && kind !== 'plugin') throw problem('usage', { reason: '--ts is for tws new plugin.' });
  if (test && kind !== 'plugin' && kind !== 'flow') {
    throw problem('usage', { reason: '--test is for tws new plugin and tws new flow.' });
  }
  if (flow !== undefined && kind !== 'schedule' && kind !== 'hook') {
    throw problem('usage', { reason: '--flow is for tws new schedule and tws new hook.' });
  }
}

type Wanted = {
  readonly name: string;
  readonly config: Config;
  readonly plugin?: string | undefined;
  readonly flow?: string | undefined;
  readonly ts: boolean;
  readonly test: boolean;
};

function scaffoldsOf(
  kind: (typeof kinds)[number],
  { name, config, plugin, flow, ts, test }: Wanted,
): readonly Scaffold[] {
  const { owner } = config;
  switch (kind) {
    case 'project':
      return projectScaffold(name, owner);
    case 'task':
      return [taskScaffold(name, plugin ?? name)];
    case 'flow':
      return [flowScaffold(name, owner, []), ...(test ? [flowTestScaffold(name, owner)] : [])];
    case 'schedule':
      return [scheduleScaffold({ name, owner, flow: flow ?? name, zone: localZone() })];
    case 'hook':
      return [hookScaffold({ name, owner, flow: flow ?? name })];
    case 'job':
      return [jobScaffold(name, owner, {})];
    case 'plugin':
      return [pluginScaffold({ name, ts }), ...(test ? [pluginTestScaffold({ name, ts })] : [])];
  }
}

/** When a new schedule starts jobs, which its cron expression does not tell everybody. */
async function sayTimes([made]: readonly Scaffold[], io: Io): Promise<void> {
  const [{ nextSlots }, { printSlots }, { slotFacts }] = await Promise.all([
    import('../../client-rules.js'),
    import('../schedules/show.js'),
    import('../schedules/facts.js'),
  ]);
  const doc = JSON.parse(made?.text ?? '{}') as Record<string, unknown>;
  const { cron, time_zone: zone } = doc;
  const slots = nextSlots({ ...doc, _id: 'new', _rev: '1-' }, 3, Date.now());
  io.out(
    `Its cron "${String(cron)}" (minute, hour, day, month, weekday) means in ${String(zone)}:`,
  );
  printSlots(slots.map(slotFacts), io);
}

/** The time zone of this machine. */
function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** What has to be there before the types and the tests of a plugin are. */
function sayNext(
  root: string,
  { ts, test, testPath }: Pick<Wanted, 'ts' | 'test'> & { readonly testPath: string },
  io: Io,
): void {
  if (ts && !stripsTypes) io.warn(typescriptProblem);
  if ((test || ts) && !isInstalledIn(root)) {
    io.say(
      `First install tws in the project, which the types and tests import: ${installCommand()}`,
    );
  }
  // Node 22 and newer take a folder for a file.
  if (test) io.out(`Next: node --test ${shellWord(relative(io.cwd, join(root, testPath)))}`);
}

/** Whether modules of the project can import `tws/plugin`. */
function isInstalledIn(root: string): boolean {
  try {
    createRequire(join(root, 'package.json')).resolve('tws/package.json');
    return true;
  } catch {
    return false;
  }
}

/** Nothing is made when one of the files is there already. */
async function make(
  root: string,
  scaffolds: readonly Scaffold[],
  io: Io,
): Promise<readonly string[]> {
  const shown = (path: string): string => relative(io.cwd, path) || path;
  const files = scaffolds.map(({ path, text }) => ({ path: join(root, path), text }));
  const there = files.find(({ path }) => existsSync(path));
  if (there !== undefined) throw problem('exists_already', { path: shown(there.path) });
  for (const { path, text } of files) {
    await writeWhole(path, text);
    io.out(`created: ${shown(path)}`);
  }
  return files.map(({ path }) => shown(path));
}

/** The schemas are what editors check the documents with; newer ones replace older ones. */
async function copySchemas(root: string): Promise<readonly string[]> {
  const from = join(packageRoot(), 'couch', 'schemas');
  const to = join(root, 'couch', 'schemas');
  if (from === to) return [];
  await mkdir(to, { recursive: true });
  const names = await readdir(from);
  await Promise.all(names.map((name) => copyFile(join(from, name), join(to, name))));
  return names.map((name) => join('couch', 'schemas', name));
}
