import type { StoredDocument } from '../model/document.js';
import type { Change } from './change.js';
import type { FeedState, FollowOptions } from './feed.js';

/**
 * Answers about documents that rarely change, kept while a feed tells of every change.
 *
 * KA1 While no feed is followed, or as soon as one is lost, nothing is kept: every question is read. A feed
 *     that says nothing is lost after three heartbeats, so no answer is older than that.
 * KA2 What was written through this store is never answered as it was before.
 * KA3 A change of a document of these types forgets everything; one of any other document, whatever an
 *     answer is made of that document.
 * KA4 What was read while such a change was heard answers who asked before it, and is not kept.
 */
export type KeptAnswers = {
  /** The answer that is kept, or the one that `read` gives. `madeOf`: ids of the documents that it depends on. */
  readonly answer: <T>(question: string, { read, madeOf }: ToRead<T>) => Promise<T>;
  /** Tells what was just written: the document as it is stored; undefined: it is deleted. */
  readonly hear: (id: string, doc: StoredDocument | undefined) => void;
  /** Tells that a document may have changed. `type`: of what it may be now. */
  readonly doubt: (id: string, type: unknown) => void;
  /** Whether a feed is followed. */
  readonly isFollowing: () => boolean;
  /** Has the listener called with every change that is heard, as long as the store lives. */
  readonly listen: (listener: KeptListener) => void;
  /** Follows a feed, which must bring documents, and keeps answers meanwhile. */
  readonly following: (
    follow: (options: FollowOptions) => AsyncIterable<Change>,
    options: FollowOptions,
  ) => AsyncGenerator<Change, void, undefined>;
};

export type KeptListener = {
  readonly heard: (id: string, doc: StoredDocument | undefined) => void;
  /** A feed began or was lost: changes may have been missed. */
  readonly forget: () => void;
};

type ToRead<T> = {
  readonly read: () => Promise<T>;
  readonly madeOf: (answer: T) => readonly string[];
};

/** Documents that rarely change, and that new ones of change answers as well. */
const rareTypes: ReadonlySet<unknown> = new Set([
  ...['task', 'flow', 'engine-control', 'queue-control', 'notify'],
]);

/** Answers that are kept at most; then all are forgotten, for somebody asks for ever new ones. */
const mostKept = 10_000;

/** Makes what keeps answers; nothing is kept before a feed is followed. */
export function createKeptAnswers(): KeptAnswers {
  const { forget, doubt, answer } = createMemory();
  const listeners: KeptListener[] = [];
  let feeds = 0;

  const hear: KeptAnswers['hear'] = (id, doc) => {
    doubt(id, doc?.['type']);
    for (const { heard } of listeners) heard(id, doc);
  };
  const count = (change: 1 | -1): void => {
    feeds += change;
    forget();
    for (const listener of listeners) listener.forget();
  };
  return {
    hear,
    doubt,
    isFollowing: () => feeds > 0,
    listen: (listener) => void listeners.push(listener),
    answer: (question, asked) => (feeds === 0 ? asked.read() : answer(question, asked)),
    following: async function* (follow, options) {
      let isFollowed = false;
      const turn = (followed: boolean): void => {
        if (isFollowed === followed) return;
        isFollowed = followed;
        count(followed ? 1 : -1);
      };
      const onState = (state: FeedState): void => {
        turn(state.kind === 'following');
        options.onState?.(state);
      };
      try {
        for await (const change of follow({ ...options, onState })) {
          hear(change.id, change.doc);
          yield change;
        }
      } finally {
        turn(false);
      }
    },
  };
}

/** Answers until what they are made of changes. */
function createMemory() {
  const kept = new Map<string, Promise<unknown>>();
  /** The documents that the kept answers depend on. */
  const madeOfAll = new Set<string>();
  /** For each reading under way, the documents that changed meanwhile; undefined: not to be kept. */
  const readings = new Set<{ changed: Set<string> | undefined }>();

  const forget = (): void => {
    kept.clear();
    madeOfAll.clear();
    for (const reading of readings) reading.changed = undefined;
  };
  const doubt: KeptAnswers['doubt'] = (id, type) => {
    if (rareTypes.has(type) || madeOfAll.has(id)) return forget();
    for (const { changed } of readings) changed?.add(id);
  };
  const readAndKeep = <T>(question: string, { read, madeOf }: ToRead<T>): Promise<T> => {
    const reading = { changed: new Set<string>() as Set<string> | undefined };
    readings.add(reading);
    const answer = read();
    kept.set(question, answer);
    const drop = (): void => {
      readings.delete(reading);
      if (kept.get(question) === answer) kept.delete(question);
    };
    answer.then((value) => {
      const ids = madeOf(value);
      if (reading.changed === undefined || ids.some((id) => reading.changed?.has(id))) {
        return drop();
      }
      readings.delete(reading);
      for (const id of ids) madeOfAll.add(id);
    }, drop);
    return answer;
  };
  return {
    forget,
    doubt,
    answer: <T>(question: string, asked: ToRead<T>): Promise<T> => {
      const there = kept.get(question) as Promise<T> | undefined;
      if (there !== undefined) return there;
      if (kept.size >= mostKept) forget();
      return readAndKeep(question, asked);
    },
  };
}
