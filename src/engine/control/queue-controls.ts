import { queueWishes, type QueueControl } from '../../model/queue-control.js';
import { canonical } from '../../model/canonical.js';
import type { StoredDocument } from '../../model/document.js';
import { readQueueControl } from '../../reading/queue-control.js';
import { createTellProblems, type TellProblemsParts } from './tell-problems.js';

/** The controls of queues, kept in memory by the feed: there are few. */
export type QueueControls = {
  /** Takes a changed or deleted control; false when the document is none and was none. */
  readonly update: (id: string, doc: StoredDocument | undefined) => boolean;
  /** All documents that it holds, by id, valid or not. */
  readonly held: ReadonlyMap<string, StoredDocument>;
  /** Takes all that there are: what is not among them was deleted. Answers whether anything is new. */
  readonly replace: (docs: readonly StoredDocument[]) => boolean;
  /** What is wanted of a queue; undefined: nothing. */
  readonly of: (queue: string) => QueueControl | undefined;
};

/**
 * Keeps the controls. Several may name the same queue: it is paused while any of them says so. What is wrong with one is written into it, by one engine.
 */
export function createQueueControls(telling: TellProblemsParts): QueueControls {
  const tell = createTellProblems(telling);
  const held = new Map<string, StoredDocument>();
  const said = new Map<string, QueueControl>();
  let byQueue: ReadonlyMap<string, QueueControl> = new Map();
  const put = (id: string, doc: StoredDocument | undefined): boolean => {
    const had = held.delete(id);
    said.delete(id);
    if (doc?.['type'] !== 'queue-control') return had;
    held.set(id, doc);
    const { control, problems } = readQueueControl(doc);
    if (control !== undefined) said.set(id, control);
    tell(doc, problems);
    return true;
  };
  const sort = (): void => {
    const ids = [...said.keys()].sort();
    byQueue = queueWishes(ids.flatMap((id) => said.get(id) ?? []));
  };
  return {
    held,
    update: (id, doc) => {
      const concerned = put(id, doc);
      if (concerned) sort();
      return concerned;
    },
    replace: (docs) => {
      const revs = (): string => canonical([...held.values()].map(({ _rev }) => _rev).sort());
      const before = revs();
      for (const id of [...held.keys()]) put(id, undefined);
      for (const doc of docs) put(doc._id, doc);
      sort();
      return revs() !== before;
    },
    of: (queue) => byQueue.get(queue),
  };
}
