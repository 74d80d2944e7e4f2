import { lengthOf } from '../../words.js';
import { marksIn, type Timescale } from './timescale.js';

type Props = {
  readonly scale: Timescale;
  /** Epoch ms. */
  readonly from: number;
  readonly to: number;
  /** So many times as wide as the page. */
  readonly zoom: number;
};

/** The text of a mark behind this place stands before it, where there is room. */
const endsAt = 0.92;

/** Marks of time since the job began; a wait that is cut short has its length instead. */
export function TimeAxis({ scale, from, to, zoom }: Props) {
  const { place, breaks } = scale;
  return (
    <div class="axis" aria-hidden="true">
      {marksIn(scale, [from, to], zoom).map(({ at, text }) => (
        <span
          key={at}
          class={place(at) > endsAt ? 'last' : ''}
          style={{ left: `${place(at) * 100}%` }}
        >
          {text}
        </span>
      ))}
      {breaks.map((one) => {
        const left = place(one.from) * 100;
        const style = { left: `${left}%`, width: `${place(one.to) * 100 - left}%` };
        return (
          <b key={one.from} style={style} title={`${lengthOf(one.to - one.from)}, cut short`}>
            ⋯ {lengthOf(one.to - one.from)}
          </b>
        );
      })}
    </div>
  );
}
