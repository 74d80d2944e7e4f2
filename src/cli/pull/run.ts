import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { problem } from '../../errors.js';
import { putInPlace, realDisk, removeLeftOver, writeBeside, type FileDisk } from '../disk.js';
import type { Io } from '../io.js';
import { ownFolder } from '../paths.js';
import { confirming } from '../prompt.js';
import type { PullStep } from './steps.js';
import type { SyncedBook, SyncedEntry } from './synced.js';

/** One file that was written or left alone, as `--json` prints it. */
export type Pulled = {
  readonly file: string;
  readonly action: 'created' | 'updated' | 'removed' | 'skipped' | 'gone' | 'conflict';
  readonly id?: string;
  /** What changed in it, or where both sides differ. */
  readonly keys?: readonly string[];
  readonly because?: string;
};

export type PullPlace = {
  /** Folder of the project. */
  readonly root: string;
  /** Whether files go whose documents are gone. */
  readonly prune: boolean;
  readonly book: SyncedBook;
  readonly disk?: FileDisk;
};

/*
 * A pull may be killed before each write:
 *
 * KP1 A file is the old or the new one at any time: its text is written beside it, and put in its place at once.
 * KP2 What both sides agree on from then on is stored before, and counts once the text is not beside it any more. So
 *     file and record change in the same moment.
 * KP3 What is left beside files is removed by the next pull.
 */

/** Writes what was planned. `forgotten`: entries of the record that go, too. */
export async function runPull(
  steps: readonly PullStep[],
  place: PullPlace,
  io: Io,
  forgotten: readonly string[] = [],
): Promise<readonly Pulled[]> {
  const { root, prune, book, disk = realDisk } = place;
  const texts = await writeTexts(steps, disk);
  const synced = agreements(steps, root);
  for (const id of forgotten) synced.set(id, undefined);
  const until = new Map(
    [...texts].flatMap(([{ id }, beside]) =>
      id === undefined ? [] : [[id, relative(root, beside)]],
    ),
  );
  await book.noteUntil(synced, until);
  const pulled: Pulled[] = [];
  const last = new Map<string, SyncedEntry | undefined>();
  for (const step of steps) {
    const done = await runStep(step, { prune, beside: texts.get(step) ?? '', disk });
    pulled.push(done);
    tell(done, io);
    const { id } = step;
    if (id === undefined) continue;
    if (done.action === 'conflict' && texts.has(step)) last.set(id, book.agreed.get(id));
    if (done.action === 'removed') last.set(id, undefined);
  }
  await book.note(last);
  for (const beside of texts.values()) if (existsSync(beside)) await disk.remove(beside);
  await removeLeftOver(root, false, disk);
  await removeLeftOver(ownFolder(root), true, disk);
  return pulled;
}

/** Writes the texts of all files beside them. */
async function writeTexts(
  steps: readonly PullStep[],
  disk: FileDisk,
): Promise<ReadonlyMap<PullStep, string>> {
  const written = new Map<PullStep, string>();
  for (const step of steps) {
    if (step.kind !== 'update' && step.kind !== 'create') continue;
    const path = step.kind === 'update' ? step.file.file.path : step.path;
    written.set(step, await writeBeside(path, step.text, disk));
  }
  return written;
}

/** What both sides have in common when all is done. */
function agreements(
  steps: readonly PullStep[],
  root: string,
): Map<string, SyncedEntry | undefined> {
  const synced = new Map<string, SyncedEntry | undefined>();
  for (const step of steps) {
    const { id } = step;
    if (id === undefined) continue;
    if ('agreed' in step && step.agreed !== undefined) {
      synced.set(id, { file: fileOf(step, root), content: step.agreed });
    }
    if (step.kind === 'forget') synced.set(id, undefined);
  }
  return synced;
}

function fileOf(step: PullStep, root: string): string {
  switch (step.kind) {
    case 'create':
      return relative(root, step.path);
    case 'update':
    case 'gone':
      return relative(root, step.file.file.path);
    case 'skip':
    case 'forget':
    case 'conflict':
      return step.shown;
  }
}

type Doing = { readonly prune: boolean; readonly beside: string; readonly disk: FileDisk };

async function runStep(step: PullStep, { prune, beside, disk }: Doing): Promise<Pulled> {
  const planned = plannedOf(step, prune);
  switch (step.kind) {
    case 'create':
      if (existsSync(step.path)) return savedMeanwhile(planned);
      await putInPlace(beside, step.path, disk);
      return planned;
    case 'update': {
      const { file, text } = step.file;
      if ((await readFile(file.path, 'utf8')) !== text) return savedMeanwhile(planned);
      await putInPlace(beside, file.path, disk);
      return planned;
    }
    case 'gone': {
      const { file, text } = step.file;
      // Somebody may have worked on it while the question was asked.
      if (prune && (await readFile(file.path, 'utf8')) !== text) return savedMeanwhile(planned);
      if (prune) await disk.remove(file.path);
      return planned;
    }
    case 'skip':
    case 'forget':
    case 'conflict':
      return planned;
  }
}

function savedMeanwhile(planned: Pulled): Pulled {
  return { ...planned, action: 'conflict', because: 'saved by somebody else at the same time' };
}

/** What a step does, without doing it. */
export function plannedOf(step: PullStep, prune: boolean): Pulled {
  const { shown: file, id } = step;
  const at = { file, ...(id === undefined ? {} : { id }) };
  switch (step.kind) {
    case 'create':
      return { ...at, action: 'created' };
    case 'update':
      return { ...at, action: 'updated', keys: step.keys };
    case 'gone':
      return prune
        ? { ...at, action: 'removed' }
        : { ...at, action: 'gone', because: 'removed in the database; --prune removes the file' };
    case 'skip':
    case 'forget':
      return { ...at, action: 'skipped', because: step.because };
    case 'conflict': {
      const { keys, because } = step;
      return { ...at, action: 'conflict', ...(keys.length === 0 ? {} : { keys }), because };
    }
  }
}

/** Prints what was done, or with `would` what would be. */
export function tell({ file, action, id, keys, because }: Pulled, io: Io, would = false): void {
  const named = keys === undefined ? '' : `: ${keys.join(', ')}`;
  const start = would ? 'would be ' : '';
  switch (action) {
    case 'created':
      return io.out(`${start}created: ${file} (${String(id)})`);
    case 'updated':
      return io.out(`${start}updated: ${file}${named}`);
    case 'removed':
      return io.out(`${start}removed: ${file} (${String(id)} is gone)`);
    case 'skipped':
      return io.out(`skipped: ${file} (${String(because)})`);
    case 'gone':
      return io.out(`gone: ${file} (${String(because)})`);
    case 'conflict':
      return io.warn(`conflict: ${file}: ${String(because)}${named}`);
  }
}

/** Whether a person agrees that files go, or nobody is to be asked. @throws TwsError `confirmation_needed` */
export async function arePrunable(
  steps: readonly PullStep[],
  confirm: boolean,
  io: Io,
): Promise<boolean> {
  const files = steps.flatMap((step) => (step.kind === 'gone' ? [step.shown] : []));
  if (files.length === 0 || !confirm) return true;
  if (!io.interactive) throw problem('confirmation_needed', { count: files.length });
  const ask = await confirming(io, 'Removing files');
  return ask.confirm(`Remove ${files.join(', ')}?`, false);
}
