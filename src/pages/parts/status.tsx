import type { Status } from '../../model/status.js';
import type { NodeState } from '../../structures/node-state.js';
import { attemptShown, nodeShown } from './state-words.js';

/** The status of a job: a word, in its colour; beside it the status that the job has of its own. */
export function StatusWord({
  status,
  custom,
}: {
  readonly status: Status;
  readonly custom?: string | undefined;
}) {
  const word = <span class={`status ${status}`}>{status}</span>;
  if (custom === undefined || custom === '') return word;
  return (
    <>
      {word} <span class="muted">{custom}</span>
    </>
  );
}

/** The state of an attempt. */
export function StepWord({ state }: { readonly state: string }) {
  const { word, tone } = attemptShown(state);
  return <span class={`status ${tone}`}>{word}</span>;
}

/** The state of a node of the flow. */
export function NodeWord({ state }: { readonly state: NodeState }) {
  const { word, tone } = nodeShown[state];
  return <span class={`status ${tone}`}>{word}</span>;
}
