import type { CheckAnswer } from '../editor/marks.js';
import type { AnyDocument } from '../answers.js';
import { zoneIn } from './when.js';
import { SlotTime } from './words.js';

type Props = {
  /** What the server said of the text; undefined: nothing yet, or there is something wrong with it. */
  readonly checked: CheckAnswer | undefined;
  /** The document in the editor. */
  readonly document: unknown;
};

/** The next slots that a schedule would have as it is written in the editor. */
export function SlotPreview({ checked, document }: Props) {
  const { slots, problems = [] } = checked ?? {};
  if (slots === undefined || problems.length > 0) return null;
  const zone = zoneIn((document ?? {}) as AnyDocument);
  return (
    <p class="slot-preview" role="status">
      <b>Next slots of this text:</b> {slots.length === 0 && 'none.'}
      {slots.map(({ slot }, i) => (
        <span key={slot}>
          {i > 0 && ' · '}
          <SlotTime slot={slot} zone={zone} />
        </span>
      ))}
    </p>
  );
}
