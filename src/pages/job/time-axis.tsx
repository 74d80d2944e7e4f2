import { lengthOf } from '../../words.js';
import type { Timescale } from './timescale.js';

type Props = {
  readonly scale: Timescale;
  /** Epoch ms. */
  readonly from: number;
  readonly to: number;
  /** So many times as wide as the page. */
  readonly zoom: number;
};

/** Lengths between two marks of the axis, ms. */
const lengths = [
  ...[10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 3, 6, 12, 24, 48, 96, 168].map((hours) => hours * 3_600_000),
];
const mostMarks = 200;

/** Marks of time since the job began; a wait that is cut short has its length instead. */
export function TimeAxis({ scale, from, to, zoom }: Props) {
  const { place, breaks, shownMs } = scale;
  const every = lengths.find((one) => shownMs / one <= 6 * zoom) ?? shownMs / 5;
  const count = Math.min(mostMarks, Math.floor((to - from) / every));
  const all = Array.from({ length: count + 1 }, (_, i) => i * every);
  const isInBreak = (ms: number): boolean =>
    breaks.some((one) => from + ms > one.from && from + ms <= one.to);
  return (
    <div class="axis" aria-hidden="true">
      {all
        .filter((ms) => !isInBreak(ms))
        .map((ms) => (
          <span key={ms} style={{ left: `${place(from + ms) * 100}%` }}>
            {ms === 0 ? '0' : markOf(ms, every)}
          </span>
        ))}
      {breaks.map((one) => {
        const left = place(one.from) * 100;
        const style = { left: `${left}%`, width: `${place(one.to) * 100 - left}%` };
        return (
          <b key={one.from} style={style}>
            ⋯ {lengthOf(one.to - one.from)}
          </b>
        );
      })}
    </div>
  );
}

/** Marks that are close together are told apart. */
function markOf(ms: number, every: number): string {
  return every < 1_000 && ms < 10_000 && ms >= 100
    ? `${Number((ms / 1_000).toFixed(2))} s`
    : lengthOf(ms);
}
