import { useEffect, useMemo, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { isDark } from '../layout/theme.js';

/** One line, or row of bars, of a chart. */
export type Series = {
  readonly name: string;
  /** Name of a custom property of the style sheet: `failed` means `--failed`. */
  readonly colour: string;
  /** One for each time; null where there is none. */
  readonly values: readonly (number | null)[];
};

type Props = {
  readonly title: string;
  /** Epoch ms. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** `bars`: stacked; a series stands on those before it. */
  readonly kind: 'bars' | 'lines';
  /** A value in words, for axis and legend. */
  readonly words: (value: number) => string;
  /** The axis goes up to this at least: a chart without figures has marks that differ, too. */
  readonly least: number;
  /** Lengths between two marks of the axis, where other than decimal ones are round. */
  readonly steps?: readonly number[];
};

const height = 190;

/** Figures over time, as a picture and, for those who do not see it, as a table. */
export function Chart(props: Props) {
  const { title, times, series, words } = props;
  const box = useRef<HTMLDivElement>(null);
  const dark = isDark.value;
  const shape = `${props.kind} ${series.map(({ name }) => name).join()} ${dark}`;
  const data = useMemo(() => dataOf(props), [times, series]);
  const latest = useRef(props);
  latest.current = props;
  const chart = useRef<uPlot>();
  useEffect(() => {
    const { current: element } = box;
    if (element === null) return undefined;
    const made = new uPlot(optionsOf(latest, element.clientWidth), dataOf(latest.current), element);
    chart.current = made;
    const watch = new ResizeObserver(() => {
      made.setSize({ width: element.clientWidth, height });
    });
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
      chart.current = undefined;
    };
  }, [shape]);
  useEffect(() => chart.current?.setData(data), [data]);
  return (
    <figure class="box chart">
      <figcaption>
        <h2>{title}</h2>
      </figcaption>
      <div ref={box} aria-hidden="true" />
      <FigureTable title={title} times={times} series={series} words={words} />
    </figure>
  );
}

type FigureProps = Pick<Props, 'title' | 'times' | 'series' | 'words'>;

/** The figures as a table, without the times that have none. */
function FigureTable({ title, times, series, words }: FigureProps) {
  return (
    <details>
      <summary>As a table</summary>
      <div class="table" tabIndex={0} role="region" aria-label={`${title}, as a table`}>
        <table>
          <thead>
            <tr>
              <th scope="col">From</th>
              {series.map(({ name }) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.flatMap((at, i) =>
              series.every(({ values }) => !values[i])
                ? []
                : [
                    <tr key={at}>
                      <th scope="row">{new Date(at).toLocaleString()}</th>
                      {series.map(({ name, values }) => {
                        const value = values[i];
                        return (
                          <td key={name} class="number">
                            {value === null || value === undefined ? '–' : words(value)}
                          </td>
                        );
                      })}
                    </tr>,
                  ],
            )}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** What uPlot draws: times in seconds; bars as sums, since each stands on those before it. */
function dataOf({ times, series, kind }: Props): uPlot.AlignedData {
  const seconds = times.map((at) => at / 1000);
  if (kind === 'lines') return [seconds, ...series.map(({ values }) => [...values])];
  const sums = series.map((_, s) =>
    times.map((_at, i) =>
      series.slice(0, s + 1).reduce((sum, one) => sum + (one.values[i] ?? 0), 0),
    ),
  );
  // The highest is drawn first, so that the lower ones stand before it.
  return [seconds, ...sums.toReversed()];
}

function optionsOf({ current }: { readonly current: Props }, width: number): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const axis = {
    stroke: colour('muted'),
    grid: { stroke: colour('line'), width: 1 },
    ticks: { stroke: colour('line'), width: 1 },
    font: '12px system-ui, sans-serif',
  };
  const isBars = current.kind === 'bars';
  const order = isBars ? current.series.toReversed() : current.series;
  return {
    width,
    height,
    cursor: { drag: { x: false, y: false }, points: { show: !isBars } },
    legend: { live: true },
    scales: {
      // A bar begins at its time: the last one needs room for itself.
      x: { range: (_chart, from, to) => [from, isBars ? to + spanOf(current.times) : to] },
      y: { range: (_chart, _low, high) => [0, Math.max(current.least, high * 1.08)] },
    },
    axes: [
      { ...axis, values: (...[, splits, , , every]) => timeWords(splits, every) },
      {
        ...axis,
        ...(current.steps === undefined ? {} : { incrs: [...current.steps] }),
        size: 76,
        values: (_chart, splits) => splits.map((one) => current.words(one)),
      },
    ],
    series: [
      { label: 'from', value: (_chart, at) => (at ? new Date(at * 1000).toLocaleString() : '–') },
      ...order.map((one): uPlot.Series => {
        const shown = (i: number | null): string => {
          const value = i === null ? null : (one.values[i] ?? null);
          return value === null ? '–' : current.words(value);
        };
        return {
          label: one.name,
          stroke: colour(one.colour),
          width: isBars ? 0 : 2,
          spanGaps: false,
          ...(isBars ? { fill: colour(one.colour) } : {}),
          ...(isBars && uPlot.paths.bars
            ? { paths: uPlot.paths.bars({ size: [0.85, 40], align: 1 }) }
            : {}),
          points: { show: !isBars, size: 5, fill: colour(one.colour) },
          value: (_chart, _value, _series, i) => shown(i),
        };
      }),
    ],
  };
}

/** Length between two times, in seconds. */
function spanOf([first = 0, second = first]: readonly number[]): number {
  return (second - first) / 1000;
}

/** The time of day, with the date where a day begins. */
function timeWords(splits: readonly number[], every: number) {
  return splits.map((at) => {
    const date = new Date(at * 1000);
    const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
    return every >= 86_400 || isMidnight
      ? date.toLocaleDateString(undefined, { day: 'numeric', month: 'short' })
      : date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', hour12: false });
  });
}
