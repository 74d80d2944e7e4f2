import { createLru } from '../memo.js';
import { isFinalState } from '../model/job.js';
import { ownerOf } from '../model/task.js';
import type { StoredDocument } from '../model/document.js';
import { offersIn, queueOfOffer } from '../model/work.js';
import { readSteps } from '../reading/step-reading.js';
import type { KeptAnswers } from '../store/kept-answers.js';
import type { Store } from '../store/store.js';
import type { ViewRow } from '../store/views.js';
import { createOfferLine, type OfferLine, type WorkOffered } from './offer-line.js';

/*
 * The lines in which work stands, kept in memory while a feed is followed, so that nobody who takes some has
 * to read the index of the database.
 *
 * OL1 A line is what the index said, and every change since: what this process writes at once, what others
 *     write as the feed brings it. Where it is wrong nothing is: an offer that is gone loses its claim.
 * OL2 Nobody is told that there is no work unless the index was just read.
 * OL3 Of two revisions of a document that are heard the older one changes nothing.
 * OL4 What comes after the known part of a line is read before that part is given out. Nobody gets what stands
 *     beyond before it was read.
 */

/** `isWhole`: nobody else stands in the line, as far as is known. */
type KnownOffers = {
  /** In their order, as the line changes meanwhile. */
  readonly offers: Iterable<WorkOffered>;
  readonly isWhole: () => boolean;
};

export type OfferLines = {
  /**
   * The line of a queue, or as much of its beginning as is kept; undefined while no feed is followed. It is read
   * from the index where it is not known.
   */
  readonly of: (queue: string) => Promise<KnownOffers | undefined>;
  /** Tells what a document was found to be; undefined: there is none. */
  readonly found: (id: string, doc: StoredDocument | undefined) => void;
  /** Whether an offer that was heard of with its job is not in its line any more. */
  readonly isGone: (offer: WorkOffered) => boolean;
};

/** Offers of one line at most, about 200 bytes each without their jobs. */
const mostInLine = 50_000;
/** Offers that are read together from the index. */
const mostRead = 2_000;
/** When a line gets so short, what comes after it is read while that is given out. */
const fewInLine = 500;
/** Lines at most; then all are read anew. */
const mostLines = 1_000;
/** Jobs that are kept are shorter, in characters, and so are all of a database together. */
const longestKept = 16_384;
const mostKept = 16_000_000;
/** So many documents are known by their newest revision. */
const mostSeen = 100_000;

const ofStores = new WeakMap<KeptAnswers, OfferLines>();

/** The lines of a database. */
export function offerLines({ kept, view }: Pick<Store, 'kept' | 'view'>): OfferLines {
  const lines = ofStores.get(kept) ?? createOfferLines(kept, view);
  ofStores.set(kept, lines);
  return lines;
}

/** Whether somebody has had an offer since it was told: a claim would cost a write that conflicts, and a read. */
export function isOfferGone({ kept }: Pick<Store, 'kept'>, offer: WorkOffered): boolean {
  return ofStores.get(kept)?.isGone(offer) === true;
}

function createOfferLines(kept: KeptAnswers, view: Store['view']): OfferLines {
  const lines = new Map<string, OfferLine>();
  const jobs = createOfferedJobs();
  const reader = createReader(view, jobs.add);
  /** The newest revisions that were heard of. */
  const revs = createLru<string>(mostSeen);

  const hear = (id: string, doc: StoredDocument | undefined): void => {
    if (lines.size === 0 || (doc !== undefined && !isNews(doc, revs.get(id)))) return;
    reader.hear(id);
    if (doc === undefined) revs.delete(id);
    else if (doc['type'] === 'job') revs.set(id, doc._rev);
    for (const offer of jobs.take(id)) lineOf(lines, offer)?.take(offer);
    if (doc !== undefined) jobs.put(doc, (one) => lineOf(lines, one)?.put(one) === true);
  };
  const forget = (): void => {
    lines.clear();
    jobs.forget();
    revs.clear();
  };
  const read = async (queue: string, line: OfferLine): Promise<OfferLine | undefined> => {
    try {
      await reader.read(queue, line);
      return lines.get(queue) === line ? line : undefined;
    } catch (error) {
      if (lines.get(queue) === line) lines.delete(queue);
      // Without lines nothing is heard, so what is known of jobs would stay for ever.
      if (lines.size === 0) forget();
      throw error;
    }
  };
  const knownOf = (queue: string, line: OfferLine): KnownOffers => ({
    offers: { [Symbol.iterator]: line.offers },
    isWhole: () => lines.get(queue) === line && line.isWhole(),
  });
  const begun = (queue: string): OfferLine => {
    if (lines.size >= mostLines) forget();
    const line = createOfferLine(mostInLine);
    lines.set(queue, line);
    return line;
  };
  kept.listen({ heard: hear, forget });
  return {
    found: hear,
    isGone: (offer) => offer.doc !== undefined && lineOf(lines, offer)?.has(offer) === false,
    of: async (queue) => {
      if (!kept.isFollowing()) return undefined;
      let line = lines.get(queue);
      if (line === undefined) {
        line = await read(queue, begun(queue));
      } else if (!line.isWhole() && line.length() < fewInLine) {
        const reading = read(queue, line);
        // Whoever can have something need not wait for more.
        if (line.length() > 0) void reading.catch(() => undefined);
        else line = await reading;
      }
      return line && knownOf(queue, line);
    },
  };
}

/** Reads what comes after the ends of lines, or their beginnings; `put` is told of each offer that has its place. */
function createReader(view: Store['view'], put: (offer: WorkOffered) => void) {
  type Reading = { readonly done: Promise<void>; readonly heard: Set<string> };
  const readings = new Map<OfferLine, Reading>();
  const extend = async (queue: string, line: OfferLine, heard: ReadonlySet<string>) => {
    for (let after = line.open(); ;) {
      const { offers, last } = await readOffers(view, queue, mostRead, after);
      // What was heard is newer.
      for (const offer of offers) if (!heard.has(offer.id) && line.put(offer)) put(offer);
      const end = offers.at(-1);
      if (last === undefined || end !== undefined) return line.close(last && end);
      after = last;
    }
  };
  return {
    /** Tells of a job that is heard of. */
    hear: (id: string): void => {
      for (const { heard } of readings.values()) heard.add(id);
    },
    read: (queue: string, line: OfferLine): Promise<void> => {
      const there = readings.get(line);
      if (there !== undefined) return there.done;
      const heard = new Set<string>();
      const done = extend(queue, line, heard).finally(() => readings.delete(line));
      readings.set(line, { done, heard });
      return done;
    },
  };
}

/** The jobs whose offers are known, and how much is kept of them. */
function createOfferedJobs() {
  const offersOf = new Map<string, { readonly offers: WorkOffered[]; readonly size: number }>();
  let characters = 0;
  return {
    /** Keeps the offers of a job for which there is a place. */
    put: (doc: StoredDocument, place: (offer: WorkOffered) => boolean): void => {
      const found = offersInJob(doc);
      if (found.length === 0) return;
      const { length } = characters < mostKept ? JSON.stringify(doc) : { length: Infinity };
      const size = length <= longestKept ? length : 0;
      const offers = size > 0 ? found.map((offer) => ({ ...offer, doc })) : found;
      const placed = offers.filter(place);
      if (placed.length === 0) return;
      offersOf.set(doc._id, { offers: placed, size });
      characters += size;
    },
    /** One more offer of a job that is not kept. */
    add: (offer: WorkOffered): void => {
      const known = offersOf.get(offer.id);
      if (known === undefined) offersOf.set(offer.id, { offers: [offer], size: 0 });
      else known.offers.push(offer);
    },
    /** The offers of a job, which are forgotten. */
    take: (id: string): readonly WorkOffered[] => {
      const known = offersOf.get(id);
      offersOf.delete(id);
      characters -= known?.size ?? 0;
      return known?.offers ?? [];
    },
    forget: (): void => {
      offersOf.clear();
      characters = 0;
    },
  };
}

function offerIn({ id, key, value: owner }: ViewRow<'waiting'>): WorkOffered {
  return { id, signal: key[1], owner };
}

/** `last`: where the next page begins, perhaps an offer of another queue; undefined: nothing comes after. */
type OfferPage = {
  readonly offers: readonly WorkOffered[];
  readonly last: WorkOffered | undefined;
};

/** Reads the beginning of a line from the index, or what comes after an offer. */
export async function readOffers(
  view: Store['view'],
  queue: string,
  most: number,
  after?: WorkOffered,
): Promise<OfferPage> {
  const prefix = offersIn(queue);
  const limit = after === undefined ? most : most + 1;
  const rows = await view('waiting', {
    startKey: ['signal', after?.signal ?? prefix, ''],
    ...(after === undefined ? {} : { startKeyDocId: after.id }),
    endKey: ['signal', `${prefix}\uffff`, {}],
    limit,
  });
  const offers = rows
    .map(offerIn)
    // That one may have been taken since, so nothing is left out unseen. And the order of the index takes "Mail" and
    // "mail" for neighbours; other signals may begin as offers do.
    .filter((one) => queueOfOffer(one.signal) === queue && !isSameOffer(one, after));
  const last = rows.length < limit ? undefined : rows.at(-1);
  return { offers, last: last && offerIn(last) };
}

function isSameOffer({ id, signal }: WorkOffered, other: WorkOffered | undefined): boolean {
  return id === other?.id && signal === other.signal;
}

/** Whether a revision of a document changes what is known of it. */
function isNews({ _rev }: StoredDocument, known: string | undefined): boolean {
  if (known === undefined) return true;
  return known !== _rev && Number.parseInt(_rev, 10) >= Number.parseInt(known, 10);
}

/** What a job offers to workers, as the index has it. */
function offersInJob(doc: StoredDocument): WorkOffered[] {
  if (doc['type'] !== 'job' || isFinalState(doc['state'])) return [];
  if (doc['state'] === '$$paused' || doc['paused'] === true) return [];
  const own = { id: doc._id, owner: ownerOf(doc) };
  return readSteps(doc).flatMap(({ state, signal = '' }) =>
    state === '$$waiting' && queueOfOffer(signal) !== undefined ? [{ ...own, signal }] : [],
  );
}

function lineOf(
  lines: ReadonlyMap<string, OfferLine>,
  { signal }: WorkOffered,
): OfferLine | undefined {
  const queue = queueOfOffer(signal);
  return queue === undefined ? undefined : lines.get(queue);
}
