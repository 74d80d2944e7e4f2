import { useState } from 'preact/hooks';
import { lengthOf } from '../../words.js';
import { now } from '../live/clock.js';
import { attemptWords } from '../parts/status.js';
import { clockTime } from '../parts/time.js';
import { beganAt, type StoredAttempt } from './attempts.js';

type Props = {
  readonly attempts: readonly StoredAttempt[];
  /** When the job began and ended; without an end it goes on until now. */
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly selected: string | undefined;
  readonly onSelect: (path: string) => void;
};

/** More rows are shown on demand. */
const mostRows = 40;

/** When each step was claimed, ran and waited. */
export function Timeline({ attempts, start, end, selected, onSelect }: Props) {
  const [all, setAll] = useState(false);
  const begun = attempts.filter((one) => beganAt(one) !== undefined);
  if (begun.length === 0 || start === undefined) {
    return <p class="muted">No step has begun yet.</p>;
  }
  const isLive = end === undefined;
  const last = Math.max(
    start + 1,
    end ?? now.value,
    ...begun.map((one) => one.end ?? beganAt(one) ?? 0),
  );
  const scale: Scale = { from: start, to: last, now: isLive ? Math.max(now.value, last) : last };
  const rows = rowsOf(begun);
  const shown = all ? rows : rows.slice(0, mostRows);
  return (
    <div class="timeline">
      <Axis scale={scale} />
      <ol>
        {shown.map((row) => (
          <Row
            key={row.path}
            row={row}
            scale={scale}
            isSelected={row.path === selected}
            onSelect={onSelect}
          />
        ))}
      </ol>
      {rows.length > shown.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {rows.length} steps
        </button>
      )}
      <p class="legend muted" aria-hidden="true">
        <i class="bar claimed" /> claimed <i class="bar running" /> running{' '}
        <i class="bar waiting" /> waiting <i class="bar between" /> until the next attempt{' '}
        <i class="bar succeeded" /> succeeded <i class="bar failed" /> failed
      </p>
    </div>
  );
}

type Scale = { readonly from: number; readonly to: number; readonly now: number };

type StepRow = {
  readonly path: string;
  readonly name: string;
  readonly attempts: readonly StoredAttempt[];
};

function rowsOf(attempts: readonly StoredAttempt[]): readonly StepRow[] {
  const rows = new Map<string, StoredAttempt[]>();
  for (const one of attempts) rows.set(one.path, [...(rows.get(one.path) ?? []), one]);
  return [...rows].map(([path, own]) => ({ path, name: own[0]?.name ?? path, attempts: own }));
}

/** Lengths between two marks of the axis, ms. */
const marks = [
  ...[10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 3, 6, 12, 24, 48, 96, 168].map((hours) => hours * 3_600_000),
];

function Axis({ scale: { from, now: to } }: { readonly scale: Scale }) {
  const length = to - from;
  const every = marks.find((one) => length / one <= 6) ?? length / 5;
  const count = Math.floor(length / every);
  return (
    <div class="axis" aria-hidden="true">
      {Array.from({ length: count + 1 }, (_, i) => (
        <span key={i} style={{ left: `${((i * every) / length) * 100}%` }}>
          {i === 0 ? '0' : markOf(i * every, every)}
        </span>
      ))}
    </div>
  );
}

type RowProps = {
  readonly row: StepRow;
  readonly scale: Scale;
  readonly isSelected: boolean;
  readonly onSelect: (path: string) => void;
};

function Row({ row: { path, name, attempts }, scale, isSelected, onSelect }: RowProps) {
  const words = attempts.map((one) => wordsOf(one, scale.now)).join('; ');
  return (
    <li>
      <button
        type="button"
        class="quiet step-name"
        aria-pressed={isSelected}
        title={`${name} (${path})`}
        onClick={() => onSelect(path)}
      >
        {name}
        {attempts.length > 1 && <small> ×{attempts.length}</small>}
      </button>
      <span class="track" title={words}>
        <span class="unseen">{words}</span>
        {attempts
          .flatMap((one, i) => barsOf(one, attempts[i + 1], scale))
          .map((bar, i) => (
            <i key={i} class={`bar ${bar.kind}`} style={styleOf(bar, scale)} />
          ))}
      </span>
    </li>
  );
}

type Bar = { readonly kind: string; readonly from: number; readonly to: number };

function barsOf(
  one: StoredAttempt,
  next: StoredAttempt | undefined,
  { now: until }: Scale,
): readonly Bar[] {
  const { accepted, start, end, state, due } = one;
  const began = beganAt(one) ?? until;
  const to = end ?? until;
  const ran = start ?? began;
  const kind = one.open
    ? state === '$$waiting'
      ? 'waiting'
      : 'running'
    : (attemptWords[state]?.tone ?? 'queued');
  const nextBegan = next === undefined ? undefined : beganAt(next);
  return [
    ...(accepted !== undefined && ran > accepted
      ? [{ kind: 'claimed', from: accepted, to: ran }]
      : []),
    { kind, from: ran, to },
    ...(due !== undefined && end !== undefined
      ? [{ kind: 'between', from: end, to: Math.min(nextBegan ?? due, until) }]
      : []),
  ];
}

function styleOf({ from, to }: Bar, scale: Scale): { left: string; width: string } {
  const length = scale.now - scale.from;
  const percent = (at: number): number =>
    Math.min(100, Math.max(0, ((at - scale.from) / length) * 100));
  return { left: `${percent(from)}%`, width: `max(3px, ${percent(to) - percent(from)}%)` };
}

function wordsOf(one: StoredAttempt, until: number): string {
  const began = beganAt(one);
  const word = attemptWords[one.state]?.word ?? one.state;
  if (began === undefined) return word;
  const lasted = lengthOf((one.end ?? until) - (one.start ?? began));
  return `Attempt ${one.attempt}, ${clockTime(began)}: ${word}, ${lasted}`;
}

/** Marks that are close together are told apart. */
function markOf(ms: number, every: number): string {
  return every < 1_000 && ms < 10_000 && ms >= 100
    ? `${Number((ms / 1_000).toFixed(2))} s`
    : lengthOf(ms);
}
