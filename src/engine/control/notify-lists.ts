import type { World } from '../../decide/world.js';
import { canonical } from '../../model/canonical.js';
import type { StoredDocument } from '../../model/document.js';
import {
  entriesFor,
  readNotifyList,
  settingsEntries,
  type ListEntry,
  type NotifySettings,
} from '../../model/notify-list.js';
import { createBrought } from './brought.js';
import { createTellProblems, type TellProblemsParts } from './tell-problems.js';

/** The notify lists, kept in memory by the feed: there are few. */
export type NotifyLists = {
  /** Takes a changed or deleted list; false when the document is none and was none. */
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
  /** The entries for the jobs of an owner: those of `tws.json` first, then by the id of their document. */
  readonly of: World['notifyLists'];
};

export type NotifyListsParts = TellProblemsParts & {
  /** `notify` of `tws.json`. */
  readonly settings: NotifySettings;
};

/** Keeps the lists. What is wrong with one is written into it, by one engine. */
export function createNotifyLists({ settings, ...telling }: NotifyListsParts): NotifyLists {
  const tell = createTellProblems(telling);
  const brought = createBrought();
  const held = new Map<string, StoredDocument>();
  const read = new Map<string, readonly ListEntry[]>();
  const ofSettings = settingsEntries(settings);
  let all = ofSettings;
  let byOwner = new Map<string, readonly ListEntry[]>();
  const put = (id: string, doc: StoredDocument | undefined): boolean => {
    const had = held.delete(id);
    read.delete(id);
    if (doc?.['type'] !== 'notify') return had;
    held.set(id, doc);
    const { entries, problems } = readNotifyList(doc);
    read.set(id, entries);
    tell(doc, problems);
    return true;
  };
  const sort = (): void => {
    const ids = [...read.keys()].sort();
    all = [...ofSettings, ...ids.flatMap((id) => read.get(id) ?? [])];
    byOwner = new Map();
  };
  const of: World['notifyLists'] = (owner) => {
    if (all.length === 0) return all;
    const known = byOwner.get(owner);
    if (known !== undefined) return known;
    const found = entriesFor(all, owner);
    if (byOwner.size < mostOwners) byOwner.set(owner, found);
    return found;
  };
  return {
    held,
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
    of,
  };
}

/** The entries of so many owners are kept at hand. */
const mostOwners = 1_000;
