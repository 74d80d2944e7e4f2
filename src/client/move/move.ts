import { setTimeout as sleep } from 'node:timers/promises';
import { problem } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import { engineControlId, everyEngine } from '../../model/engine-control.js';
import { openClient } from '../../store/client.js';
import type { Connection } from '../../store/connection.js';
import { createMissingDatabase } from '../../store/database.js';
import { guardState, installDesign } from '../../store/design.js';
import { markMoved, movedTo, addressOf, unmarkMoved } from '../../store/moved.js';
import { isSameDatabase } from '../../store/same-database.js';
import { forgetDocuments } from '../../store/erase.js';
import { compareDocuments } from '../../store/same-documents.js';
import { openStore, type Store } from '../../store/store.js';
import { isMoving } from '../moving.js';
import { connectionOf } from '../open.js';
import { createPulse } from '../pulse.js';
import { writeDocument } from '../writes.js';
import { copyChanges } from './copy.js';
import { heldSteps, type HeldStep } from './held-steps.js';
import {
  claimSensitive,
  differentSensitive,
  moveSensitive,
  noteCutOverOfSensitive,
  reopenSensitive,
  type PrepareSensitive,
} from './sensitive-part.js';
import { noteAllCopied, refuseStrangers, nameOfCopy, type CopiedRevision } from './strangers.js';
import { forgetSurplus, noteCutOver } from './surplus.js';
import { claimTarget } from './target.js';

/*
 * V3 Until the cut-over nothing changes for engines and users of the old database.
 * V4 The cut-over begins when no living engine and no worker has a step, and every living engine has seen
 *     that it takes no new one. While a step is offered, every API server has had time to hear of it, too.
 * V5 From then on the old database refuses every write; nothing is stored where it would not be copied.
 * V6 Engines may work on the new database only when all documents there are those of the old one.
 * V7 Each stage may be repeated: a move that was killed goes on where it was.
 * V8 The new database has nothing that the old one has removed and purged since it was copied. What was stored there
 *    since the cut-over stays, also when a move that was killed is repeated.
 * V9 What others have stored in the new database before the cut-over is not erased: the move ends before it, and names it.
 */

/** Where a move is. `copying`: so many of the documents are written. */
export type MoveStage =
  | { readonly kind: 'copying'; readonly written: number; readonly documents: number }
  | { readonly kind: 'waiting'; readonly steps: readonly HeldStep[] }
  | { readonly kind: 'cutting_over' }
  | { readonly kind: 'comparing' };

export type MoveOptions = {
  readonly from: Connection;
  readonly to: Connection;
  /** How long steps that run may take to end, ms. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly tell: (stage: MoveStage) => void;
  readonly prepareSensitive: PrepareSensitive;
};

/**
 * Where the database is now; `documents`: so many were compared, absent when it had moved before; `sensitive`: so many
 * in the databases of sensitive values, absent when there are none.
 */
export type MoveResult = {
  readonly documents?: number;
  readonly sensitive?: number;
  readonly to: string;
};

/** Once so few documents were written in a pass, or after so many passes, engines are asked to pause. */
const [fewWrites, mostPasses] = [200, 5];

/** Time between two looks at what still runs, ms. */
const lookEveryMs = 250;

/** An API server that hears nothing of the feed reads the controls anew after this time at the latest, ms. */
const heardAfterMs = 5_000;

/**
 * Moves a database to another place while engines work, and lets nothing be lost: copies it, has engines end
 * what they run, has the old database refuse writes, copies the rest, compares, and lets engines work there.
 * @throws TwsError `move_target_used`, `move_target_changed`, `move_target_same`, `move_busy`, `move_incomplete`,
 * `database_moved` to another place, `couch_not_admin`, and those of servers out of reach
 */
export async function moveDatabase(given: MoveOptions): Promise<MoveResult> {
  const options = { ...given, from: connectionOf(given.from) };
  const { from, to } = options;
  const place = addressOf(to);
  const before = await movedOnlyTo(from, place);
  await createMissingDatabase(to);
  if (await isSameDatabase(from, to)) throw problem('move_target_same', { place });
  await claimTarget(from, to);
  // A move that was undone has left its copy so.
  if ((await movedOnlyTo(to, addressOf(from))) !== undefined) await unmarkMoved(to);
  const store = openStore(from);
  const target = openStore(to);
  try {
    if (before === undefined || (await isMoving(target))) {
      await claimSensitive(options, options.prepareSensitive);
    }
    if (before === undefined) await cutOver(store, options);
    else if (!(await isMoving(target))) return { to: place };
    options.tell({ kind: 'comparing' });
    const documents = await copyRest(store, options);
    const sensitive = await moveSensitive(options, options.signal);
    const guard = (await guardState(from)) === 'installed';
    await installDesign(to, { guard });
    await letWork(target);
    return { documents, ...(sensitive === undefined ? {} : { sensitive }), to: place };
  } finally {
    await Promise.all([store.close(), target.close()]);
  }
}

/** Where a database has moved, if it has. @throws TwsError `database_moved` to any other place */
async function movedOnlyTo(connection: Connection, place: string): Promise<string | undefined> {
  const moved = await movedTo(openClient(connection));
  if (moved === undefined || moved === place) return moved;
  throw problem('database_moved', { database: connection.database, to: moved });
}

/** Copies until little is left, has engines end their steps, and then has the database refuse writes (V3 to V5). */
async function cutOver(store: Store, options: MoveOptions): Promise<void> {
  const { from, to, tell } = options;
  for (let pass = 1; pass <= mostPasses && (await copyAlone(store, options)).written > fewWrites;) {
    pass += 1;
  }
  await disableEngines(store, addressOf(to));
  try {
    await untilIdle(store, options);
    const { seq } = await copyAlone(store, options);
    options.signal.throwIfAborted();
    await noteCutOver(to, seq);
    await noteCutOverOfSensitive(options);
    tell({ kind: 'cutting_over' });
    await markMoved(from, addressOf(to));
  } catch (error) {
    await letWork(store);
    throw error;
  }
}

/**
 * Copies what was written until the database refused it, and checks that nothing is missing (V6). Servers of a
 * cluster learn of a new design document one after the other, so it goes on until nothing more comes.
 * @throws TwsError `move_incomplete`
 */
async function copyRest(store: Store, options: MoveOptions): Promise<number> {
  const { from, to, signal } = options;
  for (;;) {
    const { updateSeq } = await store.info();
    const written = await copy(store, options);
    await sleep(lookEveryMs, undefined, { signal });
    const later = await store.changes(updateSeq, 1);
    if (written === 0 && later.kind === 'known' && later.changes.length === 0) break;
  }
  await forgetSurplus({ ...{ from, to, signal }, isLeftOut: isOfMove, erase: forgetDocuments });
  const { documents, different, ids } = await compareDocuments(from, to, isOfMove);
  if (different === 0) return documents;
  throw problem('move_incomplete', { place: addressOf(to), count: different, ids });
}

/** What a move changes in one of the two databases alone; design documents are installed anew. */
const isOfMove = (id: string): boolean =>
  id.startsWith('_design/') || id === engineControlId(everyEngine);

async function copy(
  store: Store,
  { from, to, signal, tell }: MoveOptions,
  told: (docs: readonly CopiedRevision[]) => void = () => undefined,
): Promise<number> {
  const { documents } = await store.info();
  return copyChanges({ from, to, signal }, (written, docs) => {
    told(docs);
    tell({ kind: 'copying', written, documents });
  });
}

/**
 * Copies while nobody else is to store anything in the new place (V9). `seq`: up to where its feed is known.
 * @throws TwsError `move_target_changed`
 */
async function copyAlone(
  store: Store,
  options: MoveOptions,
): Promise<{ readonly written: number; readonly seq: string | undefined }> {
  const { from, to } = options;
  const known = new Set<string>();
  const written = await copy(store, options, (docs) => {
    for (const doc of docs) known.add(nameOfCopy(doc));
  });
  return { written, seq: await refuseStrangers({ from, to, known, isLeftOut: isOfMove }) };
}

/** Waits until nobody works on a step any more (V4). @throws TwsError `move_busy` */
async function untilIdle(store: Store, { waitMs, signal, tell }: MoveOptions): Promise<void> {
  const pulse = createPulse();
  const began = Date.now();
  for (;;) {
    const { steps, disabled, offered } = await heldSteps(store, pulse, Date.now);
    const isIdle = steps.length === 0 && disabled;
    const waitedMs = Date.now() - began;
    if (isIdle && (!offered || waitedMs >= heardAfterMs)) return;
    if (!isIdle && waitedMs >= waitMs) {
      const named = steps.slice(0, 5).map(({ job, step, by }) => `${step} of ${job} (${by})`);
      const seconds = Math.round(waitMs / 1_000);
      throw problem('move_busy', { seconds, steps: named, count: steps.length });
    }
    tell({ kind: 'waiting', steps });
    await sleep(lookEveryMs, undefined, { signal });
  }
}

/** What the control for all engines was before the move is kept in it. */
async function disableEngines(store: Store, place: string): Promise<void> {
  const _id = engineControlId(everyEngine);
  const control = await store.get(_id);
  if (control?.['moving'] !== undefined) return;
  await writeDocument(store, {
    ...{ ...control, _id, type: 'engine-control', engine: everyEngine, enabled: false },
    reason: `The database moves to ${place}.`,
    moving: control === undefined ? null : contentOf(control),
  });
}

/** Puts the control for all engines back to what it was. */
async function letWork(store: Store): Promise<void> {
  const control = await store.get(engineControlId(everyEngine));
  if (control?.['moving'] === undefined) return;
  const { _id, _rev, moving } = control;
  const before = moving as Readonly<Record<string, unknown>> | null;
  await writeDocument(store, { _id, _rev, ...(before ?? { _deleted: true }) });
}

function contentOf({ _id, _rev, ...content }: StoredDocument): Readonly<Record<string, unknown>> {
  return content;
}

/**
 * Lets the old database take writes again, as long as nothing has happened in the new one.
 * @throws TwsError `move_in_use`, `database_moved` to another place, and those of servers out of reach
 */
export async function moveBack(given: Pick<MoveOptions, 'from' | 'to'>): Promise<void> {
  const { from, to } = { ...given, from: connectionOf(given.from) };
  const store = openStore(from);
  try {
    const moved = await movedOnlyTo(from, addressOf(to));
    // A move that was killed before its cut-over has but disabled the engines.
    if (moved !== undefined) await reopen({ from, to });
    await letWork(store);
  } finally {
    await store.close();
  }
}

/** Nobody is to work on the copy that stays behind, so it refuses writes before it is compared. */
async function reopen({ from, to }: Pick<MoveOptions, 'from' | 'to'>): Promise<void> {
  const wasClosed = (await movedOnlyTo(to, addressOf(from))) !== undefined;
  await markMoved(to, addressOf(from));
  // Both ways: what was deleted there since is here still.
  const both = [
    await compareDocuments(to, from, isOfMove),
    await compareDocuments(from, to, isOfMove),
  ];
  const sensitive = await differentSensitive({ from, to });
  const ids = [...new Set([...both.flatMap((one) => one.ids), ...sensitive])];
  if (ids.length > 0) {
    if (!wasClosed) {
      await unmarkMoved(to);
      await reopenSensitive({ from, to }, 'to');
    }
    throw problem('move_in_use', { place: addressOf(to), ids });
  }
  await noteAllCopied(to);
  await reopenSensitive({ from, to }, 'from');
  await unmarkMoved(from);
}
