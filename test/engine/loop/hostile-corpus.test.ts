import { expect, it } from 'vitest';
import { documentsOf, hostileKinds, patternedPlugin } from '../../support/hostile/all.js';
import {
  outcomeOf,
  type Fate,
  type HostileDocument,
  type Kind,
  type Outcome,
} from '../../support/hostile/kind.js';
import { isFinalState } from '../../../src/model/job.js';
import { openWorkspace, writeNew } from '../../support/workspace.js';

const withinMs = 500_000;
const hostileDocuments = 300;
const normalJobs = 50;

type Case = { readonly kind: Kind; readonly documents: readonly HostileDocument[] };

/** The slow kinds take turns: they burn a minute of the processor together, as they are meant to. */
const turns = 6;
const { TWS_SIMULATE: times = '1', TWS_SIMULATE_SEED: seed = '1' } = process.env;
const turn = Number(seed) % turns;
const kinds = hostileKinds.filter(
  ({ isSlow }, i) => isSlow !== true || Number(times) > 1 || i % turns === turn,
);

/**
 * Every kind, variant by variant, until there are enough documents; one variant of the slow kinds, of
 * which a run takes a sixth, drawn by its seed (`TWS_SIMULATE=2`: all of them).
 */
function corpus(): readonly Case[] {
  const cases: Case[] = [];
  let count = 0;
  for (let n = 0; n === 0 || count < hostileDocuments; n += 1) {
    for (const kind of kinds) {
      if (n > 0 && (kind.isSlow === true || count >= hostileDocuments)) continue;
      const documents = documentsOf(kind, n);
      count += documents.length;
      cases.push({ kind, documents });
    }
  }
  return cases;
}

it('300 hostile documents hold up none of fifty normal jobs and no engine, and each ends or is told', async () => {
  const space = await openWorkspace({ 'patterned.mjs': patternedPlugin });
  await space.put(
    ...['noop', 'jsonata', 'patterned'].map((name) => ({
      // On a busy machine a calculation waits long for a thread.
      ...{ type: 'task', _id: `task:DEFAULT:${name}`, name, timeout: withinMs },
    })),
    { type: 'flow', _id: 'flow:me:f', name: 'f', owner: 'me', tasks: ['noop', 'noop'] },
  );
  const engines = await Promise.all([space.engine(), space.engine()]);
  const cases = corpus();
  expect(cases.flatMap(({ documents }) => documents).length).toBeGreaterThanOrEqual(300);
  const normal: string[] = [];
  const refused = new Set<string>();
  for (const [i, { documents }] of cases.entries()) {
    for (const document of documents) {
      const stored = await writeNew(space.store, document);
      if (stored.kind !== 'written') refused.add(document._id);
      const said = JSON.stringify(stored);
      if (stored.kind !== 'written') expect(stored, said).toMatchObject({ kind: 'refused' });
    }
    if (i % Math.floor(cases.length / normalJobs) > 0 || normal.length === normalJobs) continue;
    normal.push(...(await space.put({ type: 'job', flow: 'f', owner: 'me' })));
  }
  /** Waits until all messages among the documents are applied, or refused in themselves. */
  const isAnyRefused = async (documents: readonly HostileDocument[]): Promise<boolean> => {
    const isRefused = (doc: Document): boolean => Boolean(doc['refused'] ?? doc['failure']);
    const isDealtWith = (doc: Document): boolean => doc['_deleted'] === true || isRefused(doc);
    const messages = documents.filter(
      ({ _id, type }) => (type === 'request' || type === 'signal') && !refused.has(_id),
    );
    const last = messages.map(({ _id }) => space.until(_id, isDealtWith, withinMs));
    return (await Promise.all(last)).some(isRefused);
  };
  expect(normal).toHaveLength(normalJobs);
  for (const id of normal) expect(await space.ended(id, withinMs)).toMatchObject({ exit: 0 });
  const strange: string[] = [];
  for (const { kind, documents } of cases) {
    for (const { _id: id, type, state } of documents) {
      if (type !== 'job') continue;
      // One that was stored with an end is not over by that: what it wishes for has to be told.
      const isEnded = (doc: Document): boolean =>
        isFinalState(doc['state']) && !isFinalState(state);
      const isOver = (doc: Document): boolean => isEnded(doc) || isOneOf(kind.fate, outcomeOf(doc));
      const doc = refused.has(id) ? undefined : await space.until(id, isOver, withinMs);
      const outcome = doc === undefined ? 'refused' : outcomeOf(doc);
      // A message that came before its job, or after its end, is told in its own document.
      if (outcome === 0 && isOneOf(kind.fate, 'told') && (await isAnyRefused(documents))) continue;
      if (isOneOf(kind.fate, outcome) || isOverInTime(doc)) continue;
      strange.push(`${id}: ${String(outcome)} ${JSON.stringify(doc?.['failure'])}`);
    }
  }
  expect(strange).toEqual([]);
  // An engine that was taken for dead would have had to write its document anew.
  for (const { id } of engines)
    expect(await space.store.get(id)).toMatchObject({ state: 'running' });
  expect(space.log.filter(({ message }) => message.includes('is gone; taking over'))).toEqual([]);
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
}, 1_500_000);

type Document = Readonly<Record<string, unknown>>;

/** Harmless work beside hostile work may take longer than its time. */
function isOverInTime(job: Document | undefined): boolean {
  const { name } = (job?.['failure'] ?? {}) as { readonly name?: unknown };
  return name === 'FlowTimeout' || name === 'StepTimeout';
}

function isOneOf(fate: Fate, outcome: Outcome | undefined): boolean {
  return [fate].flat().some((one) => one === outcome);
}
