import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { problem } from '../../errors.js';
import type { Io } from '../io.js';
import { questions } from '../prompt.js';
import { replaceText } from '../write-back.js';
import type { PullStep } from './steps.js';
import type { SyncedEntry } from './synced.js';

/** One file that was written or left alone, as `--json` prints it. */
export type Pulled = {
  readonly file: string;
  readonly action: 'created' | 'updated' | 'removed' | 'skipped' | 'gone' | 'conflict';
  readonly id?: string;
  /** What changed in it, or where both sides differ. */
  readonly keys?: readonly string[];
  readonly because?: string;
};

type Ran = {
  readonly pulled: readonly Pulled[];
  /** What files and database have in common now. */
  readonly synced: ReadonlyMap<string, SyncedEntry | undefined>;
};

/** Writes what was planned. `prune`: files whose documents are gone go, too. */
export async function runPull(
  steps: readonly PullStep[],
  { root, prune }: { readonly root: string; readonly prune: boolean },
  io: Io,
): Promise<Ran> {
  const pulled: Pulled[] = [];
  const synced = new Map<string, SyncedEntry | undefined>();
  for (const step of steps) {
    const done = await runStep(step, prune);
    pulled.push(done);
    tell(done, io);
    const { id } = step;
    if (id === undefined || done.action === 'conflict') continue;
    if ('agreed' in step && step.agreed !== undefined) {
      synced.set(id, { file: fileOf(step, root), content: step.agreed });
    }
    if (step.kind === 'forget' || done.action === 'removed') synced.set(id, undefined);
  }
  return { pulled, synced };
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

async function runStep(step: PullStep, prune: boolean): Promise<Pulled> {
  const planned = plannedOf(step, prune);
  switch (step.kind) {
    case 'create':
      await mkdir(dirname(step.path), { recursive: true });
      await writeFile(step.path, step.text, { flag: 'wx' });
      return planned;
    case 'update':
      if (await replaceText(step.file.file.path, step.file.text, step.text)) return planned;
      return savedMeanwhile(planned);
    case 'gone': {
      const { file, text } = step.file;
      // Somebody may have worked on it while the question was asked.
      if (prune && (await readFile(file.path, 'utf8')) !== text) return savedMeanwhile(planned);
      if (prune) await rm(file.path);
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
  const ask = await questions(io, 'Whether to remove files (or say --no-confirm)');
  return ask.confirm(`Remove ${files.join(', ')}?`, false);
}
