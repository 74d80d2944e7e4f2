import { apiAddress, type QueryValues } from '../api.js';
import type { Summary } from '../answers.js';
import type { JobChanges } from './batch.js';
import { askWho } from '../session/session.js';

/** `live`: changes come as they happen; `away`: the stream is broken and is tried again. */
export type LiveState = 'opening' | 'live' | 'away';

export type Following = {
  /** As the query of GET changes: flow, owner, tag, job. */
  readonly query?: QueryValues;
  readonly onBatch: (batch: JobChanges) => void;
  /** Changes were missed: what is shown has to be read anew. */
  readonly onMissed: () => void;
  readonly onState?: (state: LiveState) => void;
  readonly signal: AbortSignal;
};

/** So often at most something is shown anew, however much changes. */
const batchMs = 250;
const againMs = 3_000;

/**
 * Follows the changes of jobs until the signal aborts.
 *
 * Y1 However many changes come, there are at most four batches a second.
 * Y2 A page that nobody sees has no stream: browsers allow few of them. When it is seen again, what
 *    was missed is read.
 */
export function followJobs(following: Following): void {
  const { query, onMissed, onState = () => undefined, signal } = following;
  const collect = createCollector(following);
  let source: EventSource | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let wasOpen = false;

  const close = (): void => {
    clearTimeout(again);
    source?.close();
    source = undefined;
  };
  const open = (): void => {
    close();
    if (signal.aborted || document.hidden) return;
    onState(wasOpen ? 'away' : 'opening');
    const opened = new EventSource(apiAddress('changes', query));
    source = opened;
    opened.addEventListener('ready', () => {
      onState('live');
      // Between reading the page and this moment something may have changed, too.
      onMissed();
      wasOpen = true;
    });
    opened.addEventListener('open', () => onState('live'));
    opened.addEventListener('job', ({ data }) => collect.changed(data as string));
    opened.addEventListener('removed', ({ data }) => collect.removed(data as string));
    opened.addEventListener('reset', () => onMissed());
    opened.addEventListener('error', () => {
      onState('away');
      // Refused, and not just interrupted: perhaps the session has ended.
      if (opened.readyState !== EventSource.CLOSED) return;
      close();
      again = setTimeout(() => void askWho().finally(open), againMs);
    });
  };
  const onVisible = (): void => (document.hidden ? close() : open());
  document.addEventListener('visibilitychange', onVisible);
  signal.addEventListener('abort', () => {
    document.removeEventListener('visibilitychange', onVisible);
    collect.stop();
    close();
  });
  open();
}

/** Puts changes together (Y1). */
function createCollector({ onBatch }: Pick<Following, 'onBatch'>) {
  let changed = new Map<string, Summary>();
  let removed = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const later = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      const batch: JobChanges = { changed, removed };
      changed = new Map();
      removed = new Set();
      onBatch(batch);
    }, batchMs);
  };
  return {
    changed: (data: string): void => {
      const job = JSON.parse(data) as Summary;
      changed.delete(job.id);
      changed.set(job.id, job);
      removed.delete(job.id);
      later();
    },
    removed: (data: string): void => {
      const { id } = JSON.parse(data) as { readonly id: string };
      changed.delete(id);
      removed.add(id);
      later();
    },
    stop: (): void => clearTimeout(timer),
  };
}
