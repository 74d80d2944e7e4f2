import type { StoredDocument } from '../../model/document.js';
import { show } from '../../model/problems.js';
import type { Log } from '../log.js';

/** Types of documents that engines and clients store and that need no action of an engine. */
const quiet: ReadonlySet<string> = new Set([
  'task',
  'flow',
  'lock',
  'token',
  'engine-control',
  'queue-control',
  'notify',
  'rate',
  'cached-result',
  'worker',
  'gathering',
  'retention',
  'removal',
  'secret',
]);
/** The log names at most this many types. */
const mostReported = 100;

/**
 * Returns what warns of documents that no engine acts on, once per type: other programs may keep
 * documents of their own in the database.
 */
export function createUnknownDocumentLog(log: Log): (doc: StoredDocument) => void {
  const reported = new Set<string>();
  return ({ _id: id, type }) => {
    if (typeof type !== 'string' || quiet.has(type)) return;
    const shown = show(type);
    if (reported.has(shown) || reported.size === mostReported) return;
    reported.add(shown);
    log.warn(
      { document: id },
      `Document ${id} has no effect: its type is ${shown}, which this version does not read. Further documents of that type are not reported.`,
    );
  };
}
