import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { lengthOf } from '../../words.js';
import { now } from '../live/clock.js';
import { attemptShown, isBehindAttempts, nodeShown } from '../parts/state-words.js';
import { exact } from '../parts/time.js';
import { beganAt, type StoredAttempt } from './attempts.js';
import { ItemChooser, MoreItems } from './item-chooser.js';
import { OutlineName } from './outline-name.js';
import { stretchOf, type OutlineNode } from './outline.js';
import type { OutlineRow } from './outline-rows.js';
import { TimeAxis } from './time-axis.js';
import { timescaleOf, type Timescale } from './timescale.js';
import type { StepOutline } from './use-outline.js';

type Props = {
  readonly attempts: readonly StoredAttempt[];
  readonly outline: StepOutline;
  /** When the job began and ended; without an end it goes on until now. */
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly selected: string | undefined;
  readonly onSelect: (path: string) => void;
};

type Scale = Timescale & { readonly now: number };

/** When each step was claimed, ran and waited; structures are one row each until they are opened. */
export function Timeline(props: Props) {
  const { attempts, outline, start, end } = props;
  const [zoom, setZoom] = useState(1);
  const [isWhole, setWhole] = useState(false);
  const until = Math.max((start ?? 0) + 1, end ?? now.value, lastMoment(attempts));
  const scale = useMemo((): Scale => {
    const busy = isWhole ? [[start ?? 0, until] as const] : busyTimes(attempts, until);
    return { ...timescaleOf([start ?? 0, until], busy, momentsOf(attempts)), now: until };
  }, [attempts, start, until, isWhole]);
  if (start === undefined || attempts.every((one) => beganAt(one) === undefined)) {
    return <p class="muted">No step has begun yet.</p>;
  }
  return (
    <div class="timeline">
      <TimelineTools zoom={zoom} onZoom={setZoom}>
        {(isWhole || scale.breaks.length > 0) && (
          <label class="check">
            <input type="checkbox" checked={isWhole} onChange={() => setWhole(!isWhole)} /> Show
            long waits to scale
          </label>
        )}
      </TimelineTools>
      <div class="timeline-box" tabIndex={0} role="region" aria-label="Timeline">
        <div class="timeline-inner" style={{ width: `${zoom * 100}%` }}>
          <TimeAxis scale={scale} from={start} to={until} zoom={zoom} />
          <ol>
            {outline.rows.map((row) => (
              <Row key={keyOf(row)} row={row} scale={scale} {...props} />
            ))}
          </ol>
        </div>
      </div>
      <p class="legend muted" aria-hidden="true">
        <i class="bar claimed" /> claimed <i class="bar running" /> running{' '}
        <i class="bar waiting" /> waiting <i class="bar between" /> until the next attempt{' '}
        <i class="bar succeeded" /> succeeded <i class="bar failed" /> failed
      </p>
    </div>
  );
}

type ToolProps = {
  readonly zoom: number;
  readonly onZoom: (zoom: number) => void;
  readonly children: ComponentChildren;
};

function TimelineTools({ zoom, onZoom, children }: ToolProps) {
  return (
    <div class="timeline-tools" role="group" aria-label="Size of the timeline">
      {children}
      <button
        type="button"
        aria-label="Less detail"
        title="Less detail"
        disabled={zoom <= 1}
        onClick={() => onZoom(zoom / 2)}
      >
        −
      </button>
      <button
        type="button"
        aria-label="More detail"
        title="More detail"
        disabled={zoom >= 32}
        onClick={() => onZoom(zoom * 2)}
      >
        +
      </button>
    </div>
  );
}

function lastMoment(attempts: readonly StoredAttempt[]): number {
  return attempts.reduce((last, one) => Math.max(last, one.end ?? beganAt(one) ?? 0), 0);
}

/** When plugins ran; waiting for signals, times and children does not count. */
function busyTimes(attempts: readonly StoredAttempt[], until: number) {
  return attempts.flatMap((one) => {
    const began = one.start ?? one.accepted;
    const hasRun = one.plugin !== undefined && began !== undefined;
    return hasRun ? [[began, one.since ?? one.end ?? until] as const] : [];
  });
}

function momentsOf(attempts: readonly StoredAttempt[]): readonly number[] {
  return attempts.flatMap((one) => [beganAt(one), one.end].filter((at) => at !== undefined));
}

const keyOf = (row: OutlineRow): string =>
  row.kind === 'node' ? `${row.node.kind} ${row.node.path}` : `${row.kind} ${row.group.path}`;

type RowProps = Pick<Props, 'outline' | 'selected' | 'onSelect'> & {
  readonly row: OutlineRow;
  readonly scale: Scale;
};

function Row({ row, scale, outline, selected, onSelect }: RowProps) {
  if (row.kind === 'chooser') {
    return (
      <li class="wide" style={{ paddingLeft: `${0.5 + row.depth}rem` }}>
        <ItemChooser group={row.group} outline={outline} />
      </li>
    );
  }
  if (row.kind === 'more') {
    return (
      <li class="wide" style={{ paddingLeft: `${0.5 + row.depth}rem` }}>
        <MoreItems row={row} outline={outline} />
      </li>
    );
  }
  const { node, depth, isOpen } = row;
  const { words, bars } = trackOf(node, scale);
  return (
    <li>
      <OutlineName {...{ node, depth, isOpen, outline, selected, onSelect }} />
      <span class="track" title={words}>
        <span class="unseen">{words}</span>
        {bars.map((bar, i) => (
          <i key={i} class={`bar ${bar.kind}`} style={styleOf(bar, scale)} />
        ))}
      </span>
    </li>
  );
}

type Bar = { readonly kind: string; readonly from: number; readonly to: number };

/** The bars of a node, and the same in words. */
function trackOf(node: OutlineNode, scale: Scale) {
  const step = node.kind === 'step' ? node : onlyStep(node);
  if (step !== undefined) {
    const { attempts, state } = step;
    const words = attempts.map((one) => wordsOf(one, scale.now));
    if (isBehindAttempts(state)) words.push(nodeShown[state].word);
    const bars = attempts.flatMap((one, i) => barsOf(one, attempts[i + 1], scale));
    return { words: words.join('; '), bars };
  }
  const { start, end } = stretchOf(node);
  if (start === undefined) return { words: 'not begun', bars: [] };
  const to = end ?? scale.now;
  const { word, tone } = nodeShown[node.state];
  const words = `${exact(start)}: ${word}, ${lengthOf(to - start)}`;
  return { words, bars: [{ kind: `${tone} group`, from: start, to }] };
}

function onlyStep({ kind, children }: Exclude<OutlineNode, { kind: 'step' }>) {
  const [first] = children;
  const isSingle = kind === 'item' && children.length === 1 && first?.kind === 'step';
  return isSingle ? first : undefined;
}

function barsOf(
  one: StoredAttempt,
  next: StoredAttempt | undefined,
  { now: until }: Scale,
): readonly Bar[] {
  const { accepted, start, end, state, due } = one;
  const began = beganAt(one) ?? until;
  const to = end ?? until;
  const ran = start ?? began;
  const kind = attemptShown(state).tone;
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

function styleOf({ from, to }: Bar, { place }: Scale): { left: string; width: string } {
  const left = place(from) * 100;
  return { left: `${left}%`, width: `max(3px, ${place(to) * 100 - left}%)` };
}

function wordsOf(one: StoredAttempt, until: number): string {
  const began = beganAt(one);
  const { word } = attemptShown(one.state);
  if (began === undefined) return word;
  const lasted = lengthOf((one.end ?? until) - (one.start ?? began));
  return `Attempt ${one.attempt}, ${exact(began)}: ${word}, ${lasted}`;
}
