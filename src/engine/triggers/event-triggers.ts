import { addTo } from '../../model/grouped.js';
import {
  decideEvent,
  listeningFlow,
  type EventIntent,
  type EventWorld,
  type ListeningFlow,
} from '../../decide/triggers/decide-event.js';
import type { StoredEvent } from '../../decide/triggers/events.js';
import type { Answer } from '../../decide/world.js';
import type { Joining } from '../../model/gathering.js';
import type { StoredDocument } from '../../model/document.js';
import { keyOf, ownerOf } from '../../model/task.js';
import { readTriggered } from '../../model/trigger.js';
import { parseDocument, parseInPieces } from '../../reading/parse.js';
import { takeTurns } from '../../turns.js';
import type { FollowParts } from '../loop/followed-parts.js';
import { createFollowed, type Followed, type Knowledge, type NextStep } from '../loop/followed.js';
import { createMaker, createRefusal, evaluateAll, shortHash } from './starting.js';
import type { JoinGathering, JoinResult } from './join.js';

/** The part of an engine that starts jobs for announced events, or has them gathered. */
export function createEventTriggers(parts: FollowParts, join: JoinGathering): Followed {
  return createFollowed(parts, {
    type: 'event',
    isDeciding,
    knowledgeOf: ({ _id }) => createKnowledge(parts, _id, join),
    tell: (before, after) => tell(parts, before, after),
  });
}

/** Whether jobs are decided that may not be made yet. */
function isDeciding({ triggered }: StoredDocument): boolean {
  const read = readTriggered(triggered);
  return typeof read === 'object' && (read.starting ?? read.gathering) !== undefined;
}

function intentOf(doc: StoredDocument, now: number, world: EventWorld): EventIntent {
  const parsed = parseDocument(doc);
  if (parsed.kind !== 'event') return { kind: 'rest', because: 'It is no event any more.' };
  if (!parsed.ok) return { kind: 'rest', because: parsed.problems[0].message };
  return decideEvent(parsed.value as StoredEvent, now, world);
}

/** What was looked up, evaluated and made for one event. */
function createKnowledge(parts: FollowParts, event: string, join: JoinGathering): Knowledge {
  const answers = new Map<string, Answer>();
  const joined = new Map<string, JoinResult>();
  const { made, make } = createMaker(parts, 'event', event);
  const refusal = createRefusal();
  let flows: readonly ListeningFlow[] | undefined;
  let isViewMissing = false;
  const world: EventWorld = {
    get flows() {
      return flows;
    },
    get refusal() {
      return refusal.reason();
    },
    answer: (id) => answers.get(id),
    usualTtlMs: parts.eventTtlMs,
    made,
    joined: (into) => joined.get(into),
    hash: shortHash,
  };
  const look = async (type: string): Promise<void> => {
    flows = await flowsStartedBy(parts, type);
    isViewMissing = flows === undefined;
  };
  const joinAll = async (gatherings: readonly Joining[], at: number): Promise<void> => {
    await Promise.all(
      gatherings.map(async (one) => void joined.set(one.into, await join(event, at, one))),
    );
  };
  const doing = (act: () => Promise<void>): NextStep => ({ kind: 'do', act, isShared: false });
  return {
    next: (doc, now): NextStep => {
      const intent = intentOf(doc, now, world);
      switch (intent.kind) {
        case 'rest':
        case 'wait':
          return intent;
        case 'look_up':
          // The view that lists undecided events comes with the one that is missing.
          return isViewMissing ? { kind: 'rest' } : doing(() => look(intent.event));
        case 'evaluate':
          return doing(() => evaluateAll(parts, intent.questions, answers));
        case 'join':
          return doing(() => joinAll(intent.gatherings, intent.at));
        case 'make':
          return doing(() => make(intent.jobs));
        case 'write':
          return { kind: 'write', doc: intent.event, because: intent.because };
      }
    },
    refused: refusal.take,
  };
}

/** The flows that events of a type start; undefined: the views are of an earlier version, nobody can tell. */
async function flowsStartedBy(
  { store, retry }: FollowParts,
  type: string,
): Promise<readonly ListeningFlow[] | undefined> {
  const query = { key: ['event', type], includeDocs: true };
  const rows = await retry(() =>
    store.view('triggers', query).catch((error: unknown) => {
      if ((error as { readonly code?: unknown }).code === 'view_missing') return undefined;
      throw error;
    }),
  );
  if (rows === undefined) return undefined;
  return takeTurns(readInTurns(rows, await versionsOfAll({ store, retry }, rows)));
}

type Row = { readonly doc?: StoredDocument };

/** The documents of all versions of these flows, by key, where there are several. */
async function versionsOfAll(
  { store, retry }: Pick<FollowParts, 'store' | 'retry'>,
  rows: readonly Row[],
): Promise<ReadonlyMap<string, readonly StoredDocument[]>> {
  const all = new Map<string, StoredDocument[]>();
  const keys = [...new Set(rows.flatMap(({ doc }) => (doc === undefined ? [] : keyOfFlow(doc))))];
  if (keys.length === 0) return all;
  const ids = (await retry(() => store.view('flows', { keys }))) ?? [];
  const several = keys.filter((key) => ids.filter((row) => row.key === key).length > 1);
  if (several.length === 0) return all;
  const read = await retry(() => store.view('flows', { keys: several, includeDocs: true }));
  for (const { key, doc } of read ?? []) {
    if (doc !== undefined) addTo(all, key, doc);
  }
  return all;
}

function keyOfFlow(doc: StoredDocument): string {
  return keyOf(String(doc['name']), ownerOf(doc));
}

/** Flows may be long, and many may listen. */
function* readInTurns(
  rows: readonly Row[],
  versions: ReadonlyMap<string, readonly StoredDocument[]>,
): Generator<undefined, readonly ListeningFlow[], undefined> {
  const flows: ListeningFlow[] = [];
  for (const { doc } of rows) {
    const read = doc && (yield* parseInPieces(doc));
    const parsed = doc && read && listeningFlow(doc, read, versions.get(keyOfFlow(doc)));
    if (parsed !== undefined) flows.push(parsed);
    yield;
  }
  return flows;
}

/** Logs and measures what a stored revision of an event tells of its jobs. */
function tell({ log, meters }: FollowParts, before: StoredDocument, after: StoredDocument): void {
  const { _id: event } = after;
  const [was, is] = [readTriggered(before['triggered']), readTriggered(after['triggered'])];
  if (typeof is !== 'object') return;
  const known = typeof was === 'object' ? (was.refused ?? []).length : 0;
  const refused = (is.refused ?? []).slice(known);
  for (const { flow, because } of refused) {
    log.warn({ event, flow }, `Event ${event} starts no job of flow ${flow}: ${because}`);
  }
  const { starting = [] } = is;
  for (const { job, problem } of starting) {
    if (problem === undefined) log.info({ event, job }, `Event ${event} starts job ${job}.`);
    else log.warn({ event, job }, `Event ${event} starts job ${job}, which ends: ${problem}`);
  }
  const wrong = starting.filter(({ problem }) => problem !== undefined).length;
  if (starting.length > wrong) meters?.triggers?.('event', 'started', starting.length - wrong);
  if (wrong + refused.length > 0) meters?.triggers?.('event', 'refused', wrong + refused.length);
}
