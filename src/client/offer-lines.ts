import { addTo } from '../model/grouped.js';
import { createLru } from '../memo.js';
import { isFinalState } from '../model/job.js';
import { ownerOf } from '../model/task.js';
import type { StoredDocument } from '../model/document.js';
import { offersIn, queueOfOffer } from '../model/work.js';
import { readSteps } from '../reading/step-reading.js';
import type { KeptAnswers } from '../store/kept-answers.js';
import type { Store } from '../store/store.js';
import type { ViewQuery, ViewRow } from '../store/views.js';

/*
 * The lines in which work stands, kept in memory while a feed is followed, so that nobody who takes some has
 * to read the index of the database.
 *
 * OL1 A line is what the index said, and every change since: what this process writes at once, what others
 *     write as the feed brings it. Where it is wrong nothing is: an offer that is gone loses its claim.
 * OL2 Nobody is told that there is no work unless the index was just read.
 * OL3 Of two revisions of a document that are heard the older one changes nothing.
 */

/** Work that is offered. `signal`: its place in line. `doc`: its job, where that is known. */
export type WorkOffered = {
  readonly id: string;
  readonly signal: string;
  readonly owner: string;
  readonly doc?: StoredDocument;
};

/** The line of a queue. */
type Line = {
  /** In order; up to `end`, where that is set. */
  offers: WorkOffered[];
  /** What comes after it is not known. */
  end: string | undefined;
};

/** `isWhole`: nobody else stands in the line, as far as is known. */
type Known = { readonly offers: readonly WorkOffered[]; readonly isWhole: boolean };
type Offers = Known | undefined;

export type OfferLines = {
  /**
   * The line of a queue, or as much of its beginning as is kept; undefined while no feed is followed. It is read
   * from the index where it is not known.
   */
  readonly of: (queue: string) => Promise<Offers>;
  /** Tells what a document was found to be; undefined: there is none. */
  readonly found: (id: string, doc: StoredDocument | undefined) => void;
  /** Whether an offer that was heard of with its job is not in its line any more. */
  readonly isGone: (offer: WorkOffered) => boolean;
};

/** Offers of one line at most. */
const mostInLine = 2_000;
/** Lines at most; then all are read anew. */
const mostLines = 1_000;
/** Jobs that are kept are shorter, in characters. */
const longestKept = 16_384;
/** So many documents are known by their newest revision. */
const mostSeen = 20_000;

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

type Loading = { readonly done: Promise<Offers>; readonly heard: Set<string> };

function createOfferLines(kept: KeptAnswers, view: Store['view']): OfferLines {
  const lines = new Map<string, Line>();
  /** What is read of the index now, and the jobs that were heard of meanwhile. */
  const loading = new Map<string, Loading>();
  const offersOf = new Map<string, WorkOffered[]>();
  /** The newest revisions that were heard of. */
  const revs = createLru<string>(mostSeen);

  const hear = (id: string, doc: StoredDocument | undefined): void => {
    if (lines.size === 0 || (doc !== undefined && !isNews(doc, revs.get(id)))) return;
    for (const { heard } of loading.values()) heard.add(id);
    if (doc === undefined) revs.delete(id);
    else if (doc['type'] === 'job') revs.set(id, doc._rev);
    for (const offer of offersOf.get(id) ?? []) take(lines, offer);
    const offers = (doc === undefined ? [] : offersInJob(doc)).filter((one) => put(lines, one));
    if (offers.length > 0) offersOf.set(id, offers);
    else offersOf.delete(id);
  };
  const read = async (queue: string, heard: ReadonlySet<string>): Promise<Offers> => {
    if (lines.size >= mostLines) forget();
    const line: Line = { offers: [], end: undefined };
    lines.set(queue, line);
    try {
      const rows = await view('waiting', offersQuery(queue, mostInLine));
      if (lines.get(queue) !== line) return undefined;
      for (const offer of rows.map(offerIn)) {
        // What was heard is newer.
        if (heard.has(offer.id) || !put(lines, offer)) continue;
        addTo(offersOf, offer.id, offer);
      }
      if (rows.length === mostInLine) cut(line, mostInLine);
      return knownOf(line);
    } catch (error) {
      if (lines.get(queue) === line) lines.delete(queue);
      throw error;
    }
  };
  const forget = (): void => {
    lines.clear();
    offersOf.clear();
    revs.clear();
  };
  const load = (queue: string): Promise<Offers> => {
    const there = loading.get(queue);
    if (there !== undefined) return there.done;
    const heard = new Set<string>();
    const done = read(queue, heard).finally(() => loading.delete(queue));
    loading.set(queue, { done, heard });
    return done;
  };
  kept.listen({ heard: hear, forget });
  return {
    found: hear,
    isGone: (offer) => isMissing(lines, offer),
    of: async (queue) => {
      if (!kept.isFollowing()) return undefined;
      const line = loading.has(queue) ? undefined : lines.get(queue);
      if (line === undefined || (line.end !== undefined && line.offers.length === 0)) {
        return load(queue);
      }
      return knownOf(line);
    },
  };
}

function offerIn({ id, key, value: owner }: ViewRow<'waiting'>): WorkOffered {
  return { id, signal: key[1], owner };
}

function knownOf({ offers, end }: Line): Known {
  return { offers: offers.slice(), isWhole: end === undefined };
}

/** The rows of the index for the beginning of a line, or for what comes after an offer. */
export function offersQuery(queue: string, limit: number, after?: WorkOffered): ViewQuery {
  const prefix = offersIn(queue);
  return {
    startKey: ['signal', after?.signal ?? prefix, ''],
    ...(after === undefined ? {} : { startKeyDocId: after.id, skip: 1 }),
    endKey: ['signal', `${prefix}\uffff`, {}],
    limit,
  };
}

/** Whether a revision of a document changes what is known of it. */
function isNews({ _rev }: StoredDocument, known: string | undefined): boolean {
  if (known === undefined) return true;
  return known !== _rev && Number.parseInt(_rev, 10) >= Number.parseInt(known, 10);
}

/** What a job offers to workers, as the index has it. */
function offersInJob(doc: StoredDocument): readonly WorkOffered[] {
  if (doc['type'] !== 'job' || isFinalState(doc['state'])) return [];
  if (doc['state'] === '$$paused' || doc['paused'] === true) return [];
  const signals = readSteps(doc).flatMap(({ state, signal = '' }) =>
    state === '$$waiting' && queueOfOffer(signal) !== undefined ? [signal] : [],
  );
  if (signals.length === 0) return [];
  const own = { id: doc._id, owner: ownerOf(doc) };
  const job = JSON.stringify(doc).length > longestKept ? {} : { doc };
  return signals.map((signal) => ({ ...own, ...job, signal }));
}

function lineOf(lines: ReadonlyMap<string, Line>, { signal }: WorkOffered): Line | undefined {
  const queue = queueOfOffer(signal);
  return queue === undefined ? undefined : lines.get(queue);
}

/** Puts an offer where it stands in its line; false: no line has it. */
function put(lines: ReadonlyMap<string, Line>, offer: WorkOffered): boolean {
  const line = lineOf(lines, offer);
  if (line === undefined || (line.end !== undefined && offer.signal > line.end)) return false;
  line.offers.splice(placeIn(line, offer), isIn(line, offer) ? 1 : 0, offer);
  if (line.offers.length > mostInLine) cut(line, mostInLine);
  return true;
}

function take(lines: ReadonlyMap<string, Line>, offer: WorkOffered): void {
  const line = lineOf(lines, offer);
  if (line !== undefined && isIn(line, offer)) line.offers.splice(placeIn(line, offer), 1);
}

/** Whether an offer was in a line, and somebody has had it since; false where that is not known. */
function isMissing(lines: ReadonlyMap<string, Line>, offer: WorkOffered): boolean {
  const line = offer.doc === undefined ? undefined : lineOf(lines, offer);
  if (line === undefined || (line.end !== undefined && offer.signal > line.end)) return false;
  return !isIn(line, offer);
}

function isIn(line: Line, offer: WorkOffered): boolean {
  const there = line.offers[placeIn(line, offer)];
  return there?.signal === offer.signal && there.id === offer.id;
}

/** A line is known no further than so many offers. */
function cut(line: Line, length: number): void {
  line.offers.length = Math.min(line.offers.length, length);
  line.end = line.offers.at(-1)?.signal ?? '';
}

/** Where an offer is in its line, or would be. */
function placeIn({ offers }: Line, offer: WorkOffered): number {
  let from = 0;
  let to = offers.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (isBefore(offers[middle] as WorkOffered, offer)) from = middle + 1;
    else to = middle;
  }
  return from;
}

function isBefore(one: WorkOffered, other: WorkOffered): boolean {
  return one.signal === other.signal ? one.id < other.id : one.signal < other.signal;
}
