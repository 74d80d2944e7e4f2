import { queueWishes, type QueueControl } from '../../model/queue-control.js';
import { canonical } from '../../model/canonical.js';
import { checkExpression } from '../../evaluate/expressions.js';
import { without } from '../../model/record.js';
import type { StoredDocument } from '../../model/document.js';
import { readQueueControl, type QueueControlRead } from '../../reading/queue-control.js';
import { createBrought } from './brought.js';
import { createTellProblems, type TellProblemsParts } from './tell-problems.js';

/** The controls of queues, kept in memory by the feed: there are few. */
export type QueueControls = {
  /** Takes a changed or deleted control; false when the document is none and was none. */
  readonly update: (id: string, doc: StoredDocument | undefined) => boolean;
  /** All documents that it holds, by id, valid or not. */
  readonly held: ReadonlyMap<string, StoredDocument>;
  /** To be had before all are read, for `replace`. */
  readonly mark: () => number;
  /**
   * Takes all that there are: what is not among them was deleted. What the feed has brought since the mark
   * is newer than that. Answers whether anything is new.
   */
  readonly replace: (docs: readonly StoredDocument[], mark: number) => boolean;
  /** The queues that a rate limits. */
  readonly rated: ReadonlySet<string>;
  /** What is wanted of a queue; undefined: nothing. */
  readonly of: (queue: string) => QueueControl | undefined;
};

/**
 * Keeps the controls. Several may name the same queue: it is paused while any of them says so. What is wrong with one is written into it, by one engine.
 */
export function createQueueControls(telling: TellProblemsParts): QueueControls {
  const tell = createTellProblems(telling);
  const brought = createBrought();
  const held = new Map<string, StoredDocument>();
  const said = new Map<string, QueueControl>();
  const rated = new Set<string>();
  let byQueue: ReadonlyMap<string, QueueControl> = new Map();
  const put = (id: string, doc: StoredDocument | undefined): boolean => {
    const had = held.delete(id);
    said.delete(id);
    if (doc?.['type'] !== 'queue-control') return had;
    held.set(id, doc);
    const { control, problems } = withFitKey(readQueueControl(doc));
    if (control !== undefined) said.set(id, control);
    tell(doc, problems);
    return true;
  };
  const sort = (): void => {
    const ids = [...said.keys()].sort();
    byQueue = queueWishes(ids.flatMap((id) => said.get(id) ?? []));
    rated.clear();
    for (const [queue, { rate }] of byQueue) if (rate !== undefined) rated.add(queue);
  };
  return {
    ...{ held, rated },
    update: (id, doc) => {
      const concerned = put(id, doc);
      if (!concerned) return false;
      brought.note(id);
      sort();
      return true;
    },
    mark: brought.mark,
    replace: (docs, mark) => {
      const revs = (): string => canonical([...held.values()].map(({ _rev }) => _rev).sort());
      const before = revs();
      const isOlder = (id: string): boolean => !brought.isSince(id, mark);
      for (const id of [...held.keys()].filter(isOlder)) put(id, undefined);
      for (const doc of docs) if (isOlder(doc._id)) put(doc._id, doc);
      sort();
      return revs() !== before;
    },
    of: (queue) => byQueue.get(queue),
  };
}

/** A key that is no JSONata is told, and until it is mended all jobs of the queue have one window. */
function withFitKey(read: QueueControlRead): QueueControlRead {
  const { control, problems } = read;
  const key = control?.rate?.key;
  const reason = key === undefined ? undefined : checkExpression(key);
  if (control?.rate === undefined || reason === undefined) return read;
  const path = 'rate.key';
  const told = { path, message: `${path} is no valid JSONata: ${reason}.` };
  return {
    control: { ...control, rate: without(control.rate, 'key') },
    problems: [...problems, told],
  };
}
