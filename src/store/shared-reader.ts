import { setImmediate as turn } from 'node:timers/promises';

/** What is stored of a document, as so many copies of it know it together. */
export type ReadOne<T> = (id: string, copies: number) => Promise<T>;

export type SharedReaderPorts<T> = {
  readonly readOne: ReadOne<T>;
  /** The same of many documents, in their order; undefined when they are too long for one answer. */
  readonly readMany: (ids: readonly string[], copies: number) => Promise<readonly T[] | undefined>;
};

/** Documents of one request at most. */
const mostTogether = 100;
/** Requests under way at most: one that hangs does not hold up the others. */
const mostInFlight = 3;

type Asked<T> = {
  readonly id: string;
  readonly copies: number;
  readonly answer: (stored: Promise<T>) => void;
};

/**
 * Makes a reader of documents that shares requests: what many ask for at the same time is asked for
 * together.
 *
 * T11 A request begins after everything that it answers was asked: no answer is older than its question.
 * T12 When a shared request fails, each document is read alone: one holds up no other.
 */
export function createSharedReader<T>({ readOne, readMany }: SharedReaderPorts<T>): ReadOne<T> {
  let waiting: readonly Asked<T>[] = [];
  let inFlight = 0;
  let planned = false;

  const share = async (batch: readonly Asked<T>[], copies: number): Promise<void> => {
    const ids = batch.map(({ id }) => id);
    const found =
      batch.length === 1 ? undefined : await readMany(ids, copies).catch(() => undefined);
    const answers = batch.map(({ id, answer }, i) => {
      const own = found === undefined ? readOne(id, copies) : Promise.resolve(found[i] as T);
      answer(own);
      return own;
    });
    await Promise.allSettled(answers);
  };
  const next = async (): Promise<void> => {
    // What is asked for in the same turn of the event loop belongs together.
    await turn();
    planned = false;
    while (inFlight < mostInFlight) {
      const copies = waiting[0]?.copies;
      if (copies === undefined) return;
      const batch = waiting.filter((one) => one.copies === copies).slice(0, mostTogether);
      const taken = new Set(batch);
      waiting = waiting.filter((one) => !taken.has(one));
      inFlight += 1;
      void share(batch, copies).then(() => {
        inFlight -= 1;
        plan();
      });
    }
  };
  const plan = (): void => {
    if (planned || waiting.length === 0) return;
    planned = true;
    void next();
  };
  return (id, copies) =>
    new Promise((resolve) => {
      waiting = [...waiting, { id, copies, answer: resolve }];
      if (inFlight < mostInFlight) plan();
    });
}
