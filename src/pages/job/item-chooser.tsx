import type { NodeState } from '../../structures/node-state.js';
import { nodeShown } from '../parts/state-words.js';
import { countStates, usualState, type OutlineRow } from './outline-rows.js';
import type { OutlineGroup } from './outline.js';
import type { StepOutline } from './use-outline.js';

type Props = { readonly group: OutlineGroup; readonly outline: StepOutline };

/** Chooses items of a map, or rounds of a loop, by state and by number. */
export function ItemChooser({ group: { path, label, children }, outline }: Props) {
  const { number, state = usualState(children) } = outline.choiceOf(path);
  const choose = (next: NodeState | 'all'): void => outline.choose(path, { state: next });
  return (
    <div class="item-chooser" role="group" aria-label={`Items of ${label}`}>
      <button
        type="button"
        class="tab"
        aria-pressed={number === undefined && state === 'all'}
        onClick={() => choose('all')}
      >
        all <b class="number">{children.length.toLocaleString()}</b>
      </button>
      {countStates(children).map(([one, count]) => (
        <button
          key={one}
          type="button"
          class={`tab ${nodeShown[one].tone} some`}
          aria-pressed={number === undefined && state === one}
          onClick={() => choose(one)}
        >
          {nodeShown[one].word} <b class="number">{count.toLocaleString()}</b>
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

type MoreProps = {
  readonly row: Extract<OutlineRow, { kind: 'more' }>;
  readonly outline: StepOutline;
};

/** Shows further items of a map, or rounds of a loop. */
export function MoreItems({ row: { group, left }, outline }: MoreProps) {
  return (
    <button type="button" onClick={() => outline.showMore(group.path)}>
      Show more of the {left.toLocaleString()} others
    </button>
  );
}
