import {
  committedToOne,
  readBack,
  type Committed,
  type JobWrite,
  type UnclearAnswer,
} from '../../src/replicas/resolve/commit.js';
import { write, type Protocol } from '../../src/replicas/resolve/protocol.js';

/** Stores a change where every document has one copy, as `replicas` does, for whoever plays the store. */
export function* commitToOne(change: JobWrite): Protocol<Committed> {
  const stored = yield* write(change.job);
  return committedToOne(change, stored) ?? (yield* readBack(change, stored as UnclearAnswer));
}
