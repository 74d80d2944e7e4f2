import type { Made } from '../../decide/schedules/schedule-world.js';
import {
  decideGathering,
  type GatheringIntent,
  type GatheringWorld,
} from '../../decide/triggers/decide-gathering.js';
import type { StoredEvent } from '../../decide/triggers/events.js';
import { withItsJob } from '../../decide/triggers/joined-event.js';
import type { Answer } from '../../decide/world.js';
import type { StoredDocument } from '../../model/document.js';
import { readGathering, type GatheredJob, type Gathering } from '../../model/gathering.js';
import type { FollowParts } from '../loop/followed-parts.js';
import { createFollowed, type Followed, type Knowledge, type NextStep } from '../loop/followed.js';
import { unclear, writeFollowed } from '../loop/write-followed.js';
import { createJoin, currentOf, type JoinGathering } from './join.js';
import { regather } from './regather.js';
import { createMaker, createRefusal, evaluateAll, eventIn, shortHash } from './starting.js';

/** What an engine does about events that are gathered until a job starts. */
export type Gatherings = Followed & {
  readonly join: JoinGathering;
  /** Has events gathered again whose gathering was deleted or edited by hand. */
  readonly regather: () => Promise<void>;
};

/** How long writes may be under way where a document has several copies, ms. */
const graceMs = 2_000;
/** When to look again at a gathering of which another revision has won, ms. */
const hearsayMs = 2_000;

/** The part of an engine that follows gathered events. */
export function createGatherings(parts: FollowParts): Gatherings {
  const grace = (): number | undefined => (parts.replicas.many ? graceMs : undefined);
  const followed = createFollowed(parts, {
    type: 'gathering',
    isDeciding: (doc) => readGathering(doc)?.starting !== undefined,
    dueBefore: (doc, now) => {
      const { starting, next_due: due = 0 } = readGathering(doc) ?? {};
      const wait = starting?.sure === true ? 0 : (grace() ?? 0);
      const from = starting === undefined ? due : starting.at + wait;
      return from <= now ? from : 0;
    },
    knowledgeOf: (doc) => createKnowledge(parts, doc, grace()),
    tell: (before, after) => tell(parts, before, after),
  });
  const join = createJoin(parts, (doc) => followed.take(doc));
  return { ...followed, join, regather: () => regather(parts) };
}

const doing = (act: () => Promise<void>): NextStep => ({ kind: 'do', act, isShared: false });

/** What was read, evaluated and made for gathered events. */
function createKnowledge(
  parts: FollowParts,
  { _id: id, _rev: rev }: StoredDocument,
  grace: number | undefined,
): Knowledge {
  const events = new Map<string, StoredEvent | null>();
  const answers = new Map<string, Answer>();
  const settled = new Set<string>();
  const { made, make } = createMaker(parts, 'gathering', id);
  const refusal = createRefusal();
  let found: 'not yet' | 'alone' | 'lost' = grace === undefined ? 'alone' : 'not yet';
  const known = { events, answers, made, settled, grace, isConfirmed: () => found === 'alone' };
  const world = worldOf(known, refusal.reason);
  const look = async (): Promise<void> => {
    found = (await isCurrent(parts, id, rev)) ? 'alone' : 'lost';
  };
  const clearly = (act: () => Promise<boolean>) => async (): Promise<void> => {
    if (!(await act())) found = 'lost';
  };
  // Where there are several copies, nothing is written but upon the only revision.
  const write = (doc: StoredDocument, because: string): NextStep =>
    found === 'not yet' ? doing(look) : { kind: 'write', doc, because };
  const stepFor = (intent: GatheringIntent, gathering: Gathering): NextStep => {
    switch (intent.kind) {
      case 'wait':
        return intent;
      case 'look_up':
        return doing(clearly(() => readEvents(parts, intent.events, events)));
      case 'evaluate':
        return doing(() => evaluateAll(parts, intent.questions, answers));
      case 'confirm':
        return doing(look);
      case 'make':
        return doing(() => make([intent.job]));
      case 'settle':
        return doing(clearly(() => settle(parts, gathering, intent, settled)));
      case 'write':
        return write(intent.gathering, intent.because);
      case 'remove':
        return write({ _id: id, _rev: rev, _deleted: true }, 'It gathers nothing.');
    }
  };
  return {
    next: (doc, now): NextStep => {
      const gathering = doc['_deleted'] === true ? undefined : readGathering(doc);
      if (gathering === undefined) return { kind: 'rest' };
      if (found === 'lost') return { kind: 'wait', until: now + hearsayMs };
      return stepFor(decideGathering(gathering, now, world), gathering);
    },
    refused: refusal.take,
  };
}

type KnownFacts = {
  readonly events: ReadonlyMap<string, StoredEvent | null>;
  readonly answers: ReadonlyMap<string, Answer>;
  readonly made: GatheringWorld['made'];
  readonly settled: ReadonlySet<string>;
  readonly grace: number | undefined;
  readonly isConfirmed: () => boolean;
};

function worldOf(known: KnownFacts, refusal: () => string | undefined): GatheringWorld {
  const { events, answers, made, settled, grace, isConfirmed } = known;
  return {
    get refusal() {
      return refusal();
    },
    get isConfirmed() {
      return isConfirmed();
    },
    event: (one) => events.get(one),
    answer: (one) => answers.get(one),
    made,
    settled: (job) => settled.has(job),
    graceMs: grace,
    hash: shortHash,
  };
}

async function isCurrent(parts: FollowParts, id: string, rev: string): Promise<boolean> {
  const current = await currentOf(parts, id);
  return current !== unclear && current?._rev === rev;
}

/**
 * Reads events, and puts them down; null: there is none. One copy may not know yet that an event waits, and what
 * does not is left out for good. False: what one of them says is not clear.
 */
async function readEvents(
  parts: FollowParts,
  ids: readonly string[],
  events: Map<string, StoredEvent | null>,
): Promise<boolean> {
  const docs = await readAll(parts, ids);
  if (parts.life.signal.aborted) return false;
  for (const id of ids) {
    const doc = docs.get(id);
    if (doc === unclear) return false;
    events.set(id, eventIn(doc) ?? null);
  }
  return true;
}

/** Reads documents; of those with several copies as all of them know it. */
async function readAll(
  parts: FollowParts,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StoredDocument | typeof unclear | undefined>> {
  const { store, retry, replicas } = parts;
  if (!replicas.many) return (await retry(() => store.getMany(ids))) ?? new Map();
  const docs = await Promise.all(ids.map((id) => currentOf(parts, id)));
  return new Map(ids.map((id, i) => [id, docs[i]]));
}

type Settled = { readonly starting: GatheredJob; readonly made: Made };

/**
 * Stores in the events of a job that it is started, or refused; then it is among the `settled` ones. False: what one
 * of them says is not clear, so nothing can be written upon it.
 */
async function settle(
  parts: FollowParts,
  gathering: Gathering,
  { starting: { job, events }, made }: Settled,
  settled: Set<string>,
): Promise<boolean> {
  const { life } = parts;
  const ids = events.map(({ id }) => id);
  const read = await readAll(parts, ids);
  const told = await Promise.all(
    ids.map(async (id) => {
      let doc = read.get(id);
      while (!life.signal.aborted) {
        if (doc === unclear) return false;
        const event = eventIn(doc);
        const next = event && withItsJob(event, gathering, { job, made });
        if (next === undefined) return true;
        const { kind } = await writeFollowed(parts, next);
        if (kind !== 'lost') return true;
        doc = await currentOf(parts, id);
      }
      return false;
    }),
  );
  const isTold = !told.includes(false);
  if (isTold) settled.add(job);
  return isTold;
}

/** Logs and measures that gathered events start a job. */
function tell({ log, meters }: FollowParts, before: StoredDocument, after: StoredDocument): void {
  const [was, is] = [readGathering(before)?.starting, readGathering(after)?.starting];
  if (is === undefined || was !== undefined) return;
  const { job, problem, events } = is;
  const what = `${events.length} ${events.length === 1 ? 'event starts' : 'events start'} job ${job}`;
  if (problem === undefined) log.info({ gathering: after._id, job }, `${what}.`);
  else log.warn({ gathering: after._id, job }, `${what}, which ends: ${problem}`);
  meters?.triggers?.('event', problem === undefined ? 'started' : 'refused', 1);
}
