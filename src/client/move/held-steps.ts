import { engineSchema, type EngineDocument } from '../../model/engine.js';
import { isLiveJob } from '../../model/job.js';
import type { StoredDocument } from '../../model/document.js';
import type { Status } from '../../model/status.js';
import { anyOffer, leaseName } from '../../model/work.js';
import { parseDocument } from '../../reading/parse.js';
import type { Store } from '../../store/store.js';
import type { Pulse } from '../pulse.js';

/** A step that an engine or a worker works on. */
export type HeldStep = { readonly job: string; readonly step: string; readonly by: string };

/**
 * `disabled`: every engine that is alive has seen that it takes no new work. `offered`: some step waits for a worker
 * to take it.
 */
export type StepsHeld = {
  readonly steps: readonly HeldStep[];
  readonly disabled: boolean;
  readonly offered: boolean;
};

/** Jobs read together. */
const together = 100;

/**
 * The steps that an engine that is alive runs, or a worker has, at this moment. Those of a dead engine are
 * not among them: another engine takes them over wherever the job is then.
 */
export async function heldSteps(store: Store, pulse: Pulse, now: () => number): Promise<StepsHeld> {
  const engines = await enginesAlive(store, pulse, now());
  const alive = new Set(engines.map(({ _id }) => _id));
  const ids = new Set([
    ...(await idsOf(store, 'search', statusRange('running'))),
    ...(await idsOf(store, 'search', statusRange('paused'))),
    ...(await idsOf(store, 'waiting', signalRange(leaseName('')))),
  ]);
  const held: HeldStep[] = [];
  for (let from = 0; from < ids.size; from += together) {
    const docs = await store.getMany([...ids].slice(from, from + together));
    for (const doc of docs.values()) held.push(...heldIn(doc, alive, now()));
  }
  const disabled = engines.every(({ state }) => state === 'disabled');
  const offers = await store.view('waiting', { ...signalRange(anyOffer), limit: 1 });
  return { steps: held, disabled, offered: offers.length > 0 };
}

type Range = { readonly startKey: readonly unknown[]; readonly endKey: readonly unknown[] };

function statusRange(status: Status): Range {
  return { startKey: ['status', status], endKey: ['status', status, {}] };
}

function signalRange(prefix: string): Range {
  return { startKey: ['signal', prefix], endKey: ['signal', `${prefix}\uffff`, {}] };
}

async function idsOf(
  store: Store,
  view: 'search' | 'waiting',
  query: Range,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of store.rows(view, query)) ids.push(id);
  return ids;
}

async function enginesAlive(
  store: Store,
  pulse: Pulse,
  now: number,
): Promise<readonly EngineDocument[]> {
  const rows = await store.view('engines', { includeDocs: true });
  const engines = rows.flatMap(({ doc }) => {
    const parsed = engineSchema.safeParse(doc);
    return parsed.success ? [parsed.data] : [];
  });
  const seen = pulse.look(engines, now);
  return seen.filter(({ alive }) => alive).map(({ engine }) => engine);
}

function heldIn(doc: StoredDocument, alive: ReadonlySet<string>, now: number): readonly HeldStep[] {
  const parsed = parseDocument(doc);
  if (parsed.kind !== 'job' || !parsed.ok || !isLiveJob(parsed.value)) return [];
  return parsed.value.steps.flatMap((step) => {
    const found = { job: doc._id, step: step.name };
    switch (step.state) {
      case '$$ready':
      case '$$active':
        return alive.has(step.engine) ? [{ ...found, by: step.engine }] : [];
      case '$$waiting':
        return step.worker !== undefined && Number(step.until) > now
          ? [{ ...found, by: step.worker }]
          : [];
      case '$$complete':
      case '$$error':
      case '$$timeout':
      case '$$skipped':
      case '$$cancelled':
        return [];
    }
  });
}
