import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { lengthOf } from '../../words.js';
import { axisLabel, marksIn, withRoom, type Break, type Timescale } from './timescale.js';

type Props = {
  readonly scale: Timescale;
  /** Epoch ms. */
  readonly from: number;
  readonly to: number;
  /** So many times as wide as the page. */
  readonly zoom: number;
};

/** Before it was measured, px. */
const usualWidth = 800;

/**
 * Marks of time since the job began; a wait that is cut short has its length instead. What would cover another
 * text is left out.
 */
export function TimeAxis({ scale, from, to, zoom }: Props) {
  const { place, breaks } = scale;
  const [box, width] = useWidth();
  const cut = withRoom(breaks.map((one) => axisLabel(one, cutText(one), place(one.from), width)));
  const marks = withRoom(
    marksIn(scale, [from, to], zoom).map(({ at, text }) => axisLabel(at, text, place(at), width)),
    cut,
  );
  return (
    <div class="axis" aria-hidden="true" ref={box}>
      {marks.map(({ of: at, text, isBefore }) => (
        <span key={at} class={isBefore ? 'last' : ''} style={{ left: `${place(at) * 100}%` }}>
          {text}
        </span>
      ))}
      {breaks.map((one) => {
        const left = place(one.from) * 100;
        const style = { left: `${left}%`, width: `${place(one.to) * 100 - left}%` };
        return <i key={one.from} style={style} title={`${cutText(one)}, cut short`} />;
      })}
      {cut.map(({ of: one, text, isBefore }) => (
        <b
          key={one.from}
          class={isBefore ? 'last' : ''}
          style={{ left: `${place(one.from) * 100}%` }}
        >
          {text}
        </b>
      ))}
    </div>
  );
}

const cutText = ({ from, to }: Break): string => `⋯ ${lengthOf(to - from)}`;

/** The width of an element as it is now, px. */
function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(usualWidth);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const measure = (): void => setWidth(element.clientWidth);
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return [box, width] as const;
}
