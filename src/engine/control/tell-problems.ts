import { canonical } from '../../model/canonical.js';
import type { StoredDocument } from '../../model/document.js';
import type { Problem } from '../../model/problems.js';
import { without } from '../../model/record.js';
import type { Store } from '../../store/store.js';
import type { Log } from '../log.js';

export type TellProblemsParts = {
  readonly store: Pick<Store, 'write'>;
  readonly log: Log;
  /** Whether this engine is the one that tells what all of them see. */
  readonly isReporter: (of: string) => boolean;
};

/** Writes what is wrong with a document into its `problems`, by one engine; takes them out when nothing is. */
export function createTellProblems({ store, log, isReporter }: TellProblemsParts) {
  return (doc: StoredDocument, problems: readonly Problem[]): void => {
    const isTold = canonical(doc['problems'] ?? []) === canonical(problems);
    if (isTold || !isReporter(doc._id)) return;
    for (const { message } of problems) log.warn({ document: doc._id }, message);
    const told = without(doc, 'problems');
    // A lost write is dropped: the feed brings the version that won.
    const write = store.write(problems.length === 0 ? told : { ...told, problems });
    write.catch((error: unknown) => log.debug({ error: String(error) }, 'A problem was not told.'));
  };
}
