import type { ComponentChildren } from 'preact';
import { isBehindAttempts } from '../parts/state-words.js';
import { NodeWord, StepWord } from '../parts/status.js';
import { Ago, Took } from '../parts/time.js';
import { beganAt, type StoredAttempt } from './attempts.js';
import { ItemChooser, MoreItems } from './item-chooser.js';
import { OutlineName } from './outline-name.js';
import { stepsInside, stretchOf, type OutlineNode, type OutlineStep } from './outline.js';
import { isFlat, type OutlineRow } from './outline-rows.js';
import type { StepOutline } from './use-outline.js';

type Props = {
  readonly outline: StepOutline;
  readonly selected: string | undefined;
  readonly onSelect: (path: string) => void;
};

const titles = ['Step', 'State', 'Attempt', 'Began', 'Took', 'Engine', 'Why it failed'] as const;

/** Every step with its attempts; maps, loops and wide structures are one row until they are opened. */
export function StepTable(props: Props) {
  const { rows } = props.outline;
  if (rows.length === 0) return <p class="muted">No step has begun yet.</p>;
  return (
    <div class="table steps" tabIndex={0} role="region" aria-label="Attempts of the steps">
      <table>
        <thead>
          <tr>
            {titles.map((title) => (
              <th key={title} scope="col" class={title === 'Attempt' ? 'number' : ''}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <Row key={i} row={row} {...props} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ row, ...props }: Props & { readonly row: OutlineRow }) {
  if (row.kind === 'chooser') {
    return (
      <tr class="wide">
        <td colSpan={titles.length}>
          <ItemChooser group={row.group} outline={props.outline} />
        </td>
      </tr>
    );
  }
  if (row.kind === 'more') {
    return (
      <tr class="wide">
        <td colSpan={titles.length}>
          <MoreItems row={row} outline={props.outline} />
        </td>
      </tr>
    );
  }
  const name = <OutlineName {...props} {...row} />;
  if (!isFlat(row.node)) return <Whole node={row.node}>{name}</Whole>;
  const [step] = stepsInside(row.node);
  if (step === undefined) return <Whole node={row.node}>{name}</Whole>;
  const { attempts, state } = step;
  return (
    <>
      {attempts.map((one, i) => (
        <Attempt
          key={one.place}
          attempt={one}
          name={i === 0 ? name : undefined}
          state={i + 1 === attempts.length ? state : undefined}
        />
      ))}
    </>
  );
}

type WholeProps = { readonly node: OutlineNode; readonly children: ComponentChildren };

/** A structure, or an item that has not begun. */
function Whole({ node, children }: WholeProps) {
  const { start, end } = stretchOf(node);
  return (
    <tr>
      <th scope="row">{children}</th>
      <td>
        <NodeWord state={node.state} />
      </td>
      <td class="number blank" />
      <td class="nowrap">
        <Ago at={start} />
      </td>
      <td class="nowrap">
        <Took from={start} to={end} />
      </td>
      <td class="blank" />
      <td class="with blank" />
    </tr>
  );
}

type AttemptProps = {
  readonly attempt: StoredAttempt;
  /** Absent: the row above has it. */
  readonly name: ComponentChildren;
  /** Of the step; absent: a later attempt has it. */
  readonly state: OutlineStep['state'] | undefined;
};

function Attempt({ attempt: one, name, state }: AttemptProps) {
  const message = one.failure?.message ?? '';
  return (
    <tr>
      <th scope="row">{name ?? <span class="unseen">{one.name}</span>}</th>
      <td>
        <StepWord state={one.state} />
        {state !== undefined && isBehindAttempts(state) && (
          <>
            {' '}
            <NodeWord state={state} />
          </>
        )}
      </td>
      <td class={one.attempt > 1 ? 'number' : 'number first'}>{one.attempt}</td>
      <td class="nowrap">
        <Ago at={beganAt(one)} />
      </td>
      <td class="nowrap">
        <Took from={one.start ?? beganAt(one)} to={one.end} />
      </td>
      <td class={`mono engine ${one.engine === undefined ? 'blank' : ''}`} title={one.engine}>
        {one.engine?.replace(/^engine:/, '')}
      </td>
      <td class={`with ${message === '' ? 'blank' : ''}`}>{message}</td>
    </tr>
  );
}
