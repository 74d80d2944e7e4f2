import type { LRUCache } from 'lru-cache';
import { createLru } from '../../memo.js';
import type { Change, Client } from '../../client.js';
import type { StoredDocument } from '../../model/document.js';

/** A job that changed, or is gone. */
export type JobFeedEvent =
  | { readonly kind: 'changed'; readonly seq: string; readonly job: StoredDocument }
  /** `owner` as far as it is known. */
  | {
      readonly kind: 'removed';
      readonly seq: string;
      readonly id: string;
      readonly owner?: string;
    };

/**
 * One feed for all who want to know of changes of jobs. It runs while somebody listens, and a while
 * longer.
 */
export type JobHub = {
  /**
   * Listens from now on: every change of a job that is stored after this resolves is told. Answers
   * the function that ends it. @throws TwsError when the database is away
   */
  readonly listen: (listener: Listener) => Promise<() => void>;
  /** Has the feed run a while longer, so that the client keeps what it reads of definitions and controls. */
  readonly attend: () => void;
  /** Where the feed is now; undefined while nobody listens. */
  readonly position: () => string | undefined;
  /**
   * The changes after a sequence that were told not long ago, the oldest first; undefined when that
   * sequence is not among them.
   */
  readonly since: (seq: string) => readonly JobFeedEvent[] | undefined;
  /** Has the function called whenever somebody changed what is wanted of a queue, while the feed runs. */
  readonly onQueues: (heard: () => void) => void;
  readonly close: () => Promise<void>;
};

export type HubOptions = {
  readonly client: Pick<Client, 'followKeeping' | 'position'>;
  /** So long the feed goes on when nobody listens, ms. */
  readonly lingerMs: number;
  /** So many changes are remembered for those who come back. */
  readonly remembered: number;
  /** Called with what a listener threw. */
  readonly onBroken: (error: unknown) => void;
};

type Listener = (change: JobFeedEvent) => void;

/** Makes the hub; nothing is read before somebody listens. */
export function createJobHub({ client, lingerMs, remembered, onBroken }: HubOptions): JobHub {
  const news = createNews(remembered, onBroken);
  /** Owners of the jobs that were seen, for the news that one is gone. */
  const owners = createLru<string>(mostOwners);
  const { onQueues, tellOfQueues } = createQueueNews();
  let feed: Feed | undefined;
  let opening: Promise<void> | undefined;
  let position: string | undefined;
  let lingering: NodeJS.Timeout | undefined;

  const take = (change: Change): void => {
    position = change.seq;
    tellOfJob(change, owners, news);
    tellOfQueues(change);
  };
  const open = async (): Promise<void> => {
    position = await client.position();
    feed = startFeed(client, position, take);
  };
  const end = async (): Promise<void> => {
    clearTimeout(lingering);
    const ended = feed;
    feed = undefined;
    position = undefined;
    news.forget();
    ended?.end.abort();
    await ended?.done;
  };
  const leave = (listener: Listener): void => {
    news.listeners.delete(listener);
    if (news.listeners.size > 0) return;
    clearTimeout(lingering);
    lingering = setTimeout(() => void (news.listeners.size === 0 && end()), lingerMs);
    lingering.unref();
  };
  const opened = (): Promise<void> =>
    (opening ??= open().finally(() => {
      opening = undefined;
    }));
  const listen: JobHub['listen'] = async (listener) => {
    news.listeners.add(listener);
    try {
      if (feed === undefined) await opened();
    } catch (error) {
      leave(listener);
      throw error;
    }
    return () => leave(listener);
  };
  return {
    listen,
    attend: () => attend(listen),
    onQueues,
    position: () => position,
    since: (seq) => news.after(seq) ?? (seq === position ? [] : undefined),
    close: async () => {
      news.listeners.clear();
      await opening?.catch(() => undefined);
      await end();
    },
  };
}

/** Listens to nothing, so that the feed goes on for a while. Without one everything is read. */
function attend(listen: JobHub['listen']): void {
  void listen(() => undefined).then(
    (end) => end(),
    () => undefined,
  );
}

/** Who listens, and the newest changes that they were told of. */
type News = {
  readonly listeners: Set<Listener>;
  readonly tell: (change: JobFeedEvent) => void;
  /** What was told after a sequence, the oldest first; undefined when that is not remembered. */
  readonly after: (seq: string) => readonly JobFeedEvent[] | undefined;
  readonly forget: () => void;
};

function createNews(remembered: number, onBroken: HubOptions['onBroken']): News {
  const listeners = new Set<Listener>();
  const recent: JobFeedEvent[] = [];
  return {
    listeners,
    tell: (change) => {
      recent.push(change);
      if (recent.length > remembered) recent.shift();
      for (const listener of listeners) {
        try {
          listener(change);
        } catch (error) {
          // A document that nobody thought of must not end the feed for all.
          onBroken(error);
        }
      }
    },
    after: (seq) => {
      const at = recent.findLastIndex((change) => change.seq === seq);
      return at < 0 ? undefined : recent.slice(at + 1);
    },
    forget: () => {
      recent.length = 0;
    },
  };
}

/** A feed that is under way: `end` stops it, `done` resolves when it has stopped. */
type Feed = { readonly end: AbortController; readonly done: Promise<void> };

function startFeed(
  client: HubOptions['client'],
  since: string,
  take: (change: Change) => void,
): Feed {
  const end = new AbortController();
  const run = async (): Promise<void> => {
    for await (const change of client.followKeeping({ since, signal: end.signal })) take(change);
  };
  return { end, done: run() };
}

/** What a change of the database means for jobs; undefined when it is about something else. */
export function jobChangeOf(
  { id, seq, deleted, doc, remains }: Change,
  owners: Pick<ReadonlyMap<string, string>, 'get'>,
): JobFeedEvent | undefined {
  if (doc?.['type'] === 'job') return { kind: 'changed', seq, job: doc };
  if (!deleted) return undefined;
  const owner = owners.get(id);
  // Of a job that was never seen nothing is left but its id; requests and signals go all the time.
  if (owner === undefined && remains?.['type'] !== 'job' && ofOthers.test(id)) return undefined;
  return { kind: 'removed', seq, id, ...(owner === undefined ? {} : { owner }) };
}

function tellOfJob(change: Change, owners: LRUCache<string, string>, { tell }: News): void {
  const jobChange = jobChangeOf(change, owners);
  if (jobChange === undefined) return;
  remember(owners, jobChange);
  tell(jobChange);
}

/** Tells of changes of what is wanted of a queue. */
function createQueueNews() {
  const listeners: (() => void)[] = [];
  return {
    onQueues: (heard: () => void): void => void listeners.push(heard),
    tellOfQueues: ({ id, doc }: Change): void => {
      if (doc?.['type'] !== 'queue-control' && !id.startsWith('queue-control:')) return;
      for (const heard of listeners) heard();
    },
  };
}

/** Ids of documents that are no jobs. */
const ofOthers =
  /^(?:_|(?:request|signal|event|engine|lock|task|flow|token|schedule|queue)[\w-]*:)/;

/** So many jobs are kept in mind. */
const mostOwners = 50_000;

function remember(owners: LRUCache<string, string>, change: JobFeedEvent): void {
  if (change.kind === 'removed') return void owners.delete(change.id);
  const { _id: id, owner } = change.job;
  owners.set(id, typeof owner === 'string' && owner !== '' ? owner : 'DEFAULT');
}
