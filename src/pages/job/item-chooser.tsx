import type { Status } from '../../model/status.js';
import { countTones, usualTone } from './outline-rows.js';
import type { OutlineGroup } from './outline.js';
import type { StepOutline } from './use-outline.js';

type Props = { readonly group: OutlineGroup; readonly outline: StepOutline };

/** What an item of each state is called. */
export const itemWord = (tone: Status): string => (tone === 'queued' ? 'not begun' : tone);

/** Chooses items of a map, or rounds of a loop, by state and by number. */
export function ItemChooser({ group: { path, label, children }, outline }: Props) {
  const { number, tone = usualTone(children) } = outline.choiceOf(path);
  const choose = (next: Status | 'all'): void => outline.choose(path, { tone: next });
  return (
    <div class="item-chooser" role="group" aria-label={`Items of ${label}`}>
      <button
        type="button"
        class="tab"
        aria-pressed={number === undefined && tone === 'all'}
        onClick={() => choose('all')}
      >
        all <b class="number">{children.length.toLocaleString()}</b>
      </button>
      {countTones(children).map(([one, count]) => (
        <button
          key={one}
          type="button"
          class={`tab ${one} some`}
          aria-pressed={number === undefined && tone === one}
          onClick={() => choose(one)}
        >
          {itemWord(one)} <b class="number">{count.toLocaleString()}</b>
        </button>
      ))}
      <label>
        Number{' '}
        <input
          type="number"
          min={0}
          value={number ?? ''}
          onInput={({ currentTarget: { value } }) =>
            outline.choose(path, value === '' ? {} : { number: Number(value) })
          }
        />
      </label>
    </div>
  );
}
