import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { get } from '../api.js';
import { isEnded, type ExplainAnswer, type StoredJob } from '../answers.js';
import { followJobs, type LiveState } from '../live/changes.js';
import { throttled } from '../live/throttle.js';
import { useLoaded, type Loaded } from '../live/use-loaded.js';

/** So often a job that changes all the time is read again at most, ms; slow answers make it less. */
const readMs = 400;
/** What a job waits for may change without the job: it is asked again after so long, ms. */
const askAgainMs = 10_000;
/** Engines are watched for a moment before it is certain which of them live. */
const unsettledMs = 1_500;

type LiveJob = Loaded<StoredJob> & {
  readonly live: LiveState;
  /** Absent while it is not known, or the job has ended. */
  readonly explained: ExplainAnswer | undefined;
};

/** A job that keeps itself up to date, and why it stands where it stands. */
export function useJob(id: string): LiveJob {
  const [live, setLive] = useState<LiveState>('opening');
  const took = useRef(0);
  const job = useLoaded(id, async (signal) => {
    const began = performance.now();
    const read = await get<StoredJob>(`jobs/${encodeURIComponent(id)}`, { signal });
    took.current = performance.now() - began;
    return read;
  });
  const { reload, value } = job;
  const pace = useMemo(() => throttled(reload, readMs), [reload]);
  useEffect(() => {
    const end = new AbortController();
    let opened = false;
    followJobs({
      query: { job: [id] },
      signal: end.signal,
      onState: setLive,
      // The first time the job was only just read; what came between is read, too.
      onMissed: () => (opened ? reload() : pace.ask()),
      onBatch: () => pace.ask(),
    });
    opened = true;
    return () => {
      end.abort();
      pace.stop();
    };
  }, [id, reload, pace]);
  return { ...job, live, explained: useExplained(id, value) };
}

function useExplained(id: string, job: StoredJob | undefined): ExplainAnswer | undefined {
  const moves = job !== undefined && !isEnded(job.status);
  const { value, reload } = useLoaded(moves ? `explain ${id}` : 'nothing', async (signal) =>
    moves ? get<ExplainAnswer>(`jobs/${encodeURIComponent(id)}/explain`, { signal }) : undefined,
  );
  const rev = job?.rev;
  const isFirst = useRef(true);
  const soon = useMemo(() => throttled(reload, 1_000), [reload]);
  useEffect(() => {
    if (isFirst.current) isFirst.current = false;
    else if (moves) soon.ask();
    return soon.stop;
  }, [rev, moves, soon]);
  useEffect(() => {
    if (!moves || value === undefined) return undefined;
    const again = setTimeout(reload, value.settled ? askAgainMs : unsettledMs);
    return () => clearTimeout(again);
  }, [value, moves, reload]);
  return moves ? value : undefined;
}
