import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { apiAddress, get } from '../api.js';
import type { HistoryEvent } from '../answers.js';
import { useVirtual } from '../jobs/use-virtual.js';
import { useLoaded } from '../live/use-loaded.js';
import { JsonView } from '../parts/json.js';
import { Loading } from '../parts/loading.js';
import { ProblemBox } from '../parts/problem-box.js';
import { Moment } from '../parts/time.js';
import { shortened } from '../../words.js';

type Props = { readonly job: string; readonly rev: string };

/** What has happened in a job, in order: as much as is in view, and what somebody looks for. */
export function History({ job, rev }: Props) {
  const path = `jobs/${encodeURIComponent(job)}/history`;
  const readAt = useRef(rev);
  const { value, error, isLoading, reload } = useLoaded(job, (signal) => {
    readAt.current = rev;
    return get<{ readonly events: readonly HistoryEvent[] }>(path, { signal });
  });
  // What is there stays, with the filter and the focus in it, while a new revision is read.
  useEffect(() => {
    if (!isLoading && readAt.current !== rev) reload();
  }, [rev, isLoading, reload]);
  const [wanted, setWanted] = useState('');
  const shown = useMemo(() => eventsLike(value?.events ?? [], wanted), [value, wanted]);
  if (value === undefined)
    return error === undefined ? (
      <Loading what="the history" />
    ) : (
      <ProblemBox error={error} again={reload} />
    );
  if (value.events.length === 0) return <p class="muted">Nothing has happened yet.</p>;
  return (
    <>
      {error !== undefined && <ProblemBox error={error} again={reload} />}
      <div class="history-tools">
        <label>
          Filter{' '}
          <input
            type="search"
            placeholder="step, event or what it holds"
            value={wanted}
            spellcheck={false}
            onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          />
        </label>
        <span class="muted" role="status">
          {shown.length === value.events.length
            ? `${shown.length.toLocaleString()} events`
            : `${shown.length.toLocaleString()} of ${value.events.length.toLocaleString()} events`}
        </span>
        <a class="button" href={apiAddress(path)} download={`${job}-history.json`}>
          Download
        </a>
      </div>
      <Events events={shown} />
    </>
  );
}

const kindWords = (kind: string): string => kind.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ');

/** Every word has to be in the event. */
function eventsLike(events: readonly HistoryEvent[], wanted: string): readonly HistoryEvent[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return events;
  return events.filter((event) => {
    const { kind, level, name = '', path = '', data } = event;
    const parts = [kindWords(kind), kind, level, name, path, JSON.stringify(data) ?? ''];
    const text = parts.join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

const rowHeight = 34;
/** Longer data is cut; pressing the row shows all of it. */
const mostLetters = 200;

function Events({ events }: { readonly events: readonly HistoryEvent[] }) {
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<number>();
  const { rows, height } = useVirtual({
    count: events.length,
    rowHeight,
    element: () => box.current,
  });
  const chosen = events.find(({ id }) => id === open);
  return (
    <>
      <div class="history" role="table" aria-label="History" aria-rowcount={events.length}>
        <div class="list-row history-row head" role="row">
          {['When', 'What', 'Of', 'With'].map((title) => (
            <span key={title} role="columnheader">
              {title}
            </span>
          ))}
        </div>
        <div
          class="history-rows"
          ref={box}
          tabIndex={0}
          role="rowgroup"
          aria-label="Events"
          style={{ height: `${Math.min(events.length, 18) * rowHeight + 2}px` }}
        >
          <div class="rows-inner" role="presentation" style={{ height: `${height}px` }}>
            {rows.map(({ index, start }) => {
              const event = events[index];
              return event === undefined ? null : (
                <EventRow
                  key={event.id}
                  event={event}
                  top={start}
                  isOpen={event.id === open}
                  onOpen={() => setOpen(event.id === open ? undefined : event.id)}
                />
              );
            })}
          </div>
        </div>
      </div>
      {chosen !== undefined && <JsonView value={chosen} what={`event ${kindWords(chosen.kind)}`} />}
    </>
  );
}

type RowProps = {
  readonly event: HistoryEvent;
  readonly top: number;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
};

function EventRow({ event, top, isOpen, onOpen }: RowProps) {
  const { at, kind, level, name, path, attempt, data } = event;
  const text = data === undefined ? '' : shortened(JSON.stringify(data), mostLetters);
  return (
    <div
      class={`list-row history-row ${isOpen ? 'selected' : ''}`}
      role="row"
      style={{ height: `${rowHeight}px`, transform: `translateY(${top}px)` }}
    >
      <span role="cell">
        <Moment at={at} />
      </span>
      <span role="cell">
        <button type="button" class="quiet inline" aria-expanded={isOpen} onClick={onOpen}>
          {kindWords(kind)}
        </button>{' '}
        <small class="muted">{level}</small>
      </span>
      <span role="cell" title={[name, path].filter((one) => one !== undefined).join(', ')}>
        {name ?? path}
        {attempt !== undefined && attempt > 1 && <small class="muted"> attempt {attempt}</small>}
      </span>
      <span role="cell">
        <code>{text}</code>
      </span>
    </div>
  );
}
