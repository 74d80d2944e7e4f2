import type { Client } from '../client.js';
import type { StoredDocument } from '../model/document.js';
import { versionName } from '../model/flow-versions.js';
import { ownerOf } from '../model/task.js';
import { TwsError } from '../errors.js';
import { authoredEdition } from '../validate/authored.js';
import type { Io } from './io.js';
import { isShipped } from './paths.js';
import { keptText } from './push-merge.js';
import type { PushStep } from './push-plan.js';
import { writeBackId } from './write-back.js';

/** One document that was written or skipped, as `--json` prints it. */
export type Pushed = {
  readonly file: string;
  readonly action: 'inserted' | 'updated' | 'skipped';
  readonly id?: string;
  readonly rev?: string;
  readonly because?: string;
  /** Keys that only the database has changed; they stay. */
  readonly kept?: readonly string[];
};

/**
 * Writes what was planned, one document after the other, and the ids of new ones into their files. `done` is told
 * each step when it is done.
 * @throws TwsError `document_conflict`, `document_refused`; what was written before stays
 */
export async function runPush(
  steps: readonly PushStep[],
  client: Client,
  io: Io,
  done: (step: PushStep) => Promise<void> = () => Promise.resolve(),
): Promise<readonly Pushed[]> {
  const pushed: Pushed[] = [];
  for (const step of steps) {
    const { shown: file, path } = step.file.file;
    const kept = step.kept === undefined ? {} : { kept: step.kept };
    if (step.kind === 'skip') {
      const { id, because } = step;
      io.out(`skipping: ${file} (${because})`);
      pushed.push({
        file,
        action: 'skipped',
        ...(id === undefined ? {} : { id }),
        because,
        ...kept,
      });
      await done(step);
      continue;
    }
    const { _id: id } = step.doc;
    const inserts = step.kind === 'insert';
    const rev = await writeStep(step, client);
    io.out(`${inserts ? 'inserting' : 'updating'}: ${file} => ok ${id} ${io.style('dim', rev)}`);
    pushed.push({ file, action: inserts ? 'inserted' : 'updated', id, rev, ...kept });
    if (step.kept !== undefined) io.out(`kept: ${file} (${keptText(step.kept)})`);
    if (step.file.doc['_id'] === undefined && !isShipped(path)) {
      await writeBackId(path, step.file.text, id);
    }
    await done(step);
  }
  await moveCurrents(steps, client, io);
  return pushed;
}

/** Makes those versions of flows current whose files say so. */
async function moveCurrents(steps: readonly PushStep[], client: Client, io: Io): Promise<void> {
  for (const { file, ...step } of steps) {
    const { type, current, name } = file.doc;
    const id = step.kind === 'skip' ? step.id : step.doc._id;
    if (type !== 'flow' || current !== true || id === undefined) continue;
    const made = await client.useFlowVersion({ name: String(name), owner: ownerOf(file.doc) }, id);
    const { version, changed, before } = made;
    if (changed)
      io.out(
        `current: ${String(name)} ${versionName(version)}${before === undefined ? '' : `, before: ${before}`}`,
      );
  }
}

/** How often a document is read anew when an engine wrote it in between. */
const mostTries = 10;

type WritingStep = Exclude<PushStep, { readonly kind: 'skip' }>;

/** Writes one document. What engines wrote since it was planned is no conflict: that stays as it is stored. */
async function writeStep(step: WritingStep, client: Client, tries = 1): Promise<string> {
  const { doc, replaces } = step;
  try {
    return await client.write(doc);
  } catch (error) {
    const isLost = error instanceof TwsError && error.code === 'document_conflict';
    if (!isLost || replaces === undefined || tries === mostTries) throw error;
    const now = await client.get(doc._id);
    const next = now && isSame(now, replaces.stored) ? replaces.again(now) : undefined;
    if (next === undefined || 'keys' in next || next.kind === 'skip') throw error;
    return writeStep(next, client, tries + 1);
  }
}

/** Whether only engines have written since; the end of a backfill is theirs, too. */
function isSame(...docs: readonly [StoredDocument, StoredDocument]): boolean {
  const [one, other] = docs.map((doc) => {
    const { backfill: _backfill, ...rest } = doc;
    return doc['type'] === 'schedule'
      ? authoredEdition('schedule', { ...rest, _id: doc._id, _rev: '' })
      : authoredEdition(String(doc['type']), doc);
  });
  return one === other;
}

type Planned = {
  readonly action: string;
  readonly file?: string;
  readonly id?: string;
  readonly kept?: readonly string[];
};

/** Prints what `runPush` would do, and what would be removed. */
export function showPlan(
  steps: readonly PushStep[],
  removed: readonly StoredDocument[],
  io: Io,
): readonly Planned[] {
  const planned = steps.map((step) => {
    const { shown: file } = step.file.file;
    const id = step.kind === 'skip' ? step.id : step.doc._id;
    const action = step.kind === 'skip' ? 'skip' : step.kind;
    const more = step.kind === 'skip' ? step.because : step.doc._id;
    const { kept } = step;
    io.out(`would ${action}: ${file} (${more})`);
    if (step.kind !== 'skip' && kept !== undefined) {
      io.out(`would keep: ${file} (${keptText(kept)})`);
    }
    return {
      ...{ action, file },
      ...(id === undefined ? {} : { id }),
      ...(kept === undefined ? {} : { kept }),
    };
  });
  for (const { _id } of removed) io.out(`would remove: ${_id} (no file holds it)`);
  return [...planned, ...removed.map(({ _id: id }) => ({ action: 'remove', id }))];
}
