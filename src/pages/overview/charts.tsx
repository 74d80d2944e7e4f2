import { useMemo } from 'preact/hooks';
import { lengthOf } from '../../words.js';
import type { Span } from '../answers.js';
import { roundLengths } from '../job/timescale.js';
import { Chart } from './chart.js';
import type { Unit } from './ranges.js';

const dayMs = 86_400_000;
/** `2 min`, not `1 min 40 s`: such marks fit beside the axis. */
const lengthSteps = [
  ...[1, 2, 5],
  ...roundLengths,
  ...[30, 90, 365, 3_650, 36_500].map((days) => days * dayMs),
];

type Props = { readonly spans: readonly Span[]; readonly unit: Unit };

/** Throughput, failures and latency over time. */
export function Charts({ spans, unit }: Props) {
  const { times, ended, share, took } = useMemo(() => figuresOf(spans), [spans]);
  return (
    <div class="charts">
      <Chart
        title={`Jobs that ended, by ${unit}`}
        times={times}
        series={ended}
        kind="bars"
        words={countWords}
        least={1}
      />
      <Chart
        title="Share that failed"
        times={times}
        series={share}
        kind="lines"
        words={percent}
        least={10}
      />
      <Chart
        title="How long jobs took"
        times={times}
        series={took}
        kind="lines"
        words={length}
        least={10}
        steps={lengthSteps}
      />
    </div>
  );
}

function figuresOf(spans: readonly Span[]) {
  const values = (read: (span: Span) => number | null) => spans.map(read);
  return {
    times: spans.map(({ at }) => at),
    ended: [
      { name: 'failed', colour: 'failed', values: values(({ failed }) => failed) },
      { name: 'succeeded', colour: 'succeeded', values: values(({ succeeded }) => succeeded) },
      { name: 'cancelled', colour: 'cancelled', values: values(({ cancelled }) => cancelled) },
    ],
    share: [
      {
        name: 'failed',
        colour: 'failed',
        // Of those that somebody cancelled nobody knows how they would have ended.
        values: values(({ failed, succeeded }) =>
          failed + succeeded === 0 ? null : (failed / (failed + succeeded)) * 100,
        ),
      },
    ],
    took: [
      { name: 'longest', colour: 'waiting', values: values(({ ms }) => ms?.max ?? null) },
      { name: 'mean', colour: 'running', values: values(({ ms }) => ms?.mean ?? null) },
    ],
  };
}

function countWords(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString() : '';
}
function percent(value: number): string {
  return `${Math.round(value * 10) / 10} %`;
}
function length(value: number): string {
  return value === 0 ? '0' : lengthOf(value);
}
