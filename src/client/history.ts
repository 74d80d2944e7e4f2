import { historyOf } from '../reading/history.js';
import type { HistoryEvent } from '../model/history-event.js';
import type { Job } from '../model/job.js';
import type { Store } from '../store/store.js';
import { jobOf } from './jobs.js';

export type { EventLevel, HistoryEvent } from '../model/history-event.js';

/** What has happened in a job, in order. @throws TwsError `document_missing`, `document_kind` */
export async function jobHistory(store: Store, id: string): Promise<readonly HistoryEvent[]> {
  return historyOf((await jobOf(store, id)) as unknown as Job);
}
