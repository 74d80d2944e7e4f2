import { useMemo } from 'preact/hooks';
import { lengthOf } from '../../words.js';
import type { Span } from '../answers.js';
import { Chart } from './chart.js';
import type { Unit } from './ranges.js';

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
      />
      <Chart title="Share that failed" times={times} series={share} kind="lines" words={percent} />
      <Chart title="How long jobs took" times={times} series={took} kind="lines" words={length} />
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
