import type { z } from 'zod';
import type { Task } from '../model/task.js';
import type { Entry } from '../model/tree.js';

/**
 * What a kind of entry is, a node that runs as one step: what checks, engine and pages ask about it,
 * answered in the one file of the kind. How its step begins is a matter of `decide/start/begin`.
 */
export type EntryKind = {
  /** The schema of its own key. */
  readonly shape: Readonly<Record<string, z.ZodType>>;
  /** What people call it where it has no name, stored as its `task`: its word, or the value of its key. */
  readonly calledBy: 'word' | 'value';
  /** What it does, as a picture says it where the name does not. */
  readonly notes: (entry: Entry) => readonly string[];
  /** The task that its step runs where that is no document. */
  readonly task?: (entry: Entry) => Task;
  /** It waits in the job document itself and needs no engine. */
  readonly isWait?: true;
  /** The way to each of its own texts that may hold templates (`wait.key`). */
  readonly texts?: readonly string[];
  /** Its steps depend on the whole job: they cannot run in a child job, with a slice of a list. */
  readonly needsWholeJob?: (entry: Entry) => boolean;
  /** Something that it began may go on when it is done. */
  readonly leavesWork?: true;
};
