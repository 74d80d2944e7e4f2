import { readSteps } from '../../client.js';
import type { StoredDocument } from '../../model/document.js';
import { queueOfOffer } from '../../model/work.js';
import type { JobFeedEvent, JobHub } from '../feed/hub.js';

/** What somebody waits for. */
export type WorkWish = {
  readonly queues: readonly string[];
  /** Those with the same queues and the same `reach` may have the same work. */
  readonly reach: string;
  /** Whether the work of a job is for them. */
  readonly isMeant: (job: StoredDocument) => boolean;
};

/** A place in the line of those who wait for work. */
export type PlaceInWorkLine = {
  /** Resolves when it is worth looking for work again. */
  readonly woken: () => Promise<void>;
  /** Ends the waiting of `woken`. */
  readonly wake: () => void;
  /** Leaves the line. `mayBeMore`: the next one looks. */
  readonly leave: (mayBeMore: boolean) => void;
};

type Place = WorkWish & {
  /** Set while it waits. */
  rouse: (() => void) | undefined;
  /** Something came while it looked. */
  isMissed: boolean;
};

/**
 * The line of those who wait for work on one API server. A job with work wakes one of them, and whoever
 * finds some wakes the next of each sort: so a hundred who wait for the same ask the database no more often than one.
 */
type WorkLine = {
  /** Work that is stored after this resolves is told. @throws TwsError when the database is away */
  readonly join: (wish: WorkWish) => Promise<PlaceInWorkLine>;
};

const lines = new WeakMap<JobHub, WorkLine>();

/** The line of those who wait for work where this feed is read. */
export function workLine(hub: JobHub): WorkLine {
  const line = lines.get(hub) ?? createWorkLine(hub);
  lines.set(hub, line);
  return line;
}

function createWorkLine(hub: JobHub): WorkLine {
  const places = new Set<Place>();
  let listening: Promise<() => void> | undefined;

  const wakeOne = (concerned: readonly Place[]): void => {
    const waiting = concerned.find(({ rouse }) => rouse !== undefined);
    if (waiting !== undefined) return waiting.rouse?.();
    // Whoever looks just now may have looked too early.
    for (const place of concerned) place.isMissed = true;
  };
  const hear = (change: JobFeedEvent): void => {
    if (change.kind === 'removed') return;
    const { job } = change;
    const offered = readSteps(job).flatMap(({ signal = '' }) => queueOfOffer(signal) ?? []);
    if (offered.length === 0) return;
    const isMeant = ({ queues, ...place }: Place): boolean =>
      queues.some((one) => offered.includes(one)) && place.isMeant(job);
    wakeOne([...places].filter(isMeant));
  };
  const wakeSorts = (concerned: readonly Place[]): void => {
    for (const sort of new Set(concerned.map(sortOf))) {
      wakeOne(concerned.filter((one) => sortOf(one) === sort));
    }
  };
  // A queue that goes on has work that nobody tells of again.
  hub.onQueues(() => wakeSorts([...places]));
  const leave = (place: Place, mayBeMore: boolean): void => {
    places.delete(place);
    const shares = ({ queues }: Place): boolean => queues.some((one) => place.queues.includes(one));
    // Nobody knows whose the work is that is left.
    if (mayBeMore || place.isMissed) wakeSorts([...places].filter(shares));
    if (places.size > 0) return;
    void listening?.then((end) => end());
    listening = undefined;
  };
  return {
    join: async (wish) => {
      const place: Place = { ...wish, rouse: undefined, isMissed: false };
      places.add(place);
      // A listener of its own each time: the one before may be about to end.
      listening ??= hub.listen((change) => hear(change));
      try {
        await listening;
      } catch (error) {
        places.delete(place);
        listening = undefined;
        throw error;
      }
      return {
        woken: () => rest(place),
        wake: () => place.rouse?.(),
        leave: (mayBeMore) => leave(place, mayBeMore),
      };
    },
  };
}

const sortOf = ({ queues, reach }: Place): string => JSON.stringify([reach, queues.toSorted()]);

/** Until something comes; not at all where something came meanwhile. */
async function rest(place: Place): Promise<void> {
  const { isMissed } = place;
  place.isMissed = false;
  if (isMissed) return;
  await new Promise<void>((resolve) => {
    place.rouse = () => {
      place.rouse = undefined;
      resolve();
    };
  });
}
