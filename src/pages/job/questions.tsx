import { useState } from 'preact/hooks';
import { AskDialog, jsonIn, formText } from '../parts/ask.js';
import { isAt, type StoredAttempt } from './attempts.js';
import { JsonView } from '../parts/json.js';
import { isWithin } from '../../model/tree.js';
import { wholeFlow } from '../../structures/paths.js';
import { changedParams } from './changed-params.js';

/** Asks something of the job, and tells the reader. @throws ApiProblem */
export type AskedOf = (
  word: 'retry' | 'cancel' | 'pause' | 'resume' | 'skip' | 'signal' | 'notes' | 'migrate',
  body: Readonly<Record<string, unknown>>,
) => Promise<void>;

/** A step as it can be named in a request. */
export type StepChoice = {
  readonly path: string;
  readonly name: string;
};

type Props = { readonly ask: AskedOf; readonly onClose: () => void };

/** Asks for a reason, for the record. */
export function ReasonField() {
  return (
    <label>
      Why <small>(kept in the job)</small>
      <input name="reason" autocomplete="off" />
    </label>
  );
}

/** What was written, as the API wants it: without what was left empty. */
export function givenParts(
  parts: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
}

/** Asks before a job is cancelled. */
export function CancelQuestion({ ask, onClose }: Props) {
  return (
    <AskDialog
      title="Cancel this job?"
      does="Cancel the job"
      destroys
      onClose={onClose}
      act={(form) => ask('cancel', givenParts({ reason: formText(form, 'reason') }))}
    >
      <p>
        Steps that run are stopped, child jobs too. What was done stays done, unless the flow has
        something to undo it.
      </p>
      <ReasonField />
    </AskDialog>
  );
}

/** Asks why a job is paused. */
export function PauseQuestion({ ask, onClose }: Props) {
  return (
    <AskDialog
      title="Pause this job"
      does="Pause"
      onClose={onClose}
      act={(form) => ask('pause', givenParts({ reason: formText(form, 'reason') }))}
    >
      <p>Steps that run go on to their end; no new one begins until somebody resumes the job.</p>
      <ReasonField />
    </AskDialog>
  );
}

/** Asks for a remark. */
export function NoteQuestion({ ask, onClose }: Props) {
  return (
    <AskDialog
      title="Note something in this job"
      does="Note it"
      onClose={onClose}
      act={(form) => ask('notes', { text: formText(form, 'text') ?? '' })}
    >
      <label>
        Note
        <textarea name="text" required class="prose" />
      </label>
    </AskDialog>
  );
}

type StepsProps = Props & {
  readonly steps: readonly StepChoice[];
  readonly selected: string | undefined;
};

/** The step of the picture that is meant by a path or a name. */
function chosenOf(steps: readonly StepChoice[], said: string | undefined): string {
  if (said === undefined) return '';
  const found = steps.find(({ path, name }) => isAt(said, path) || name === said);
  return found?.path ?? '';
}

function StepOptions({ steps }: { readonly steps: readonly StepChoice[] }) {
  return (
    <>
      {steps.map(({ path, name }) => (
        <option key={path} value={path}>
          {name} ({path})
        </option>
      ))}
    </>
  );
}

/** Asks which step is left out. */
export function SkipQuestion({ ask, onClose, steps, selected }: StepsProps) {
  return (
    <AskDialog
      title="Skip a step"
      does="Skip it"
      destroys
      onClose={onClose}
      act={(form) =>
        ask('skip', givenParts({ step: formText(form, 'step'), reason: formText(form, 'reason') }))
      }
    >
      <p>The step counts as done, without a result; what comes after it begins.</p>
      <label>
        Step
        <select name="step" required value={chosenOf(steps, selected)}>
          <option value="">choose one</option>
          <StepOptions steps={steps} />
        </select>
      </label>
      <ReasonField />
    </AskDialog>
  );
}

type SignalProps = Props & { readonly attempts: readonly StoredAttempt[] };

/** Asks for a signal and its data. */
export function SignalQuestion({ ask, onClose, attempts }: SignalProps) {
  const awaited = attempts.filter(({ open }) => open).flatMap(({ signal }) => signal ?? []);
  return (
    <AskDialog
      title="Send a signal to this job"
      does="Send"
      onClose={onClose}
      act={(form) =>
        ask(
          'signal',
          givenParts({ name: formText(form, 'name'), data: jsonIn(form, 'data', 'The data') }),
        )
      }
    >
      <p>
        {awaited.length > 0
          ? `It waits for ${awaited.map((one) => `"${one}"`).join(' and ')}.`
          : 'No step waits for one now; a step that comes to wait for it later gets it, too.'}
      </p>
      <label>
        Name
        <input name="name" required list="awaited" defaultValue={awaited[0] ?? ''} />
      </label>
      <datalist id="awaited">
        {awaited.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <label>
        Data <small>(JSON; becomes the result of the step)</small>
        <textarea name="data" spellcheck={false} placeholder='{ "ok": true }' />
      </label>
    </AskDialog>
  );
}

type RetryProps = StepsProps & {
  readonly begun: readonly StoredAttempt[];
  /** Parameters of the job as they are. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly hasFailed: boolean;
};

/** The attempt is of that step, or of one in that structure. */
function isIn(path: string, place: string): boolean {
  return place === wholeFlow || isAt(path, place) || isWithin(path, place);
}

/** Asks where a job that has ended goes on, and with which parameters. */
export function RetryQuestion(props: RetryProps) {
  const { ask, onClose, steps, selected, begun, params, hasFailed } = props;
  const some = steps.filter(({ path }) => begun.some((one) => isIn(one.path, path)));
  const before = JSON.stringify(params, null, 2);
  const [from, setFrom] = useState(
    hasFailed ? '' : ((chosenOf(some, selected) || some[0]?.path) ?? ''),
  );
  const last = begun.findLast((one) => (from === '' ? one.failed : isAt(one.path, from)));
  return (
    <AskDialog
      title={hasFailed ? 'Retry this job' : 'Run this job again'}
      does={hasFailed ? 'Retry' : 'Run again'}
      onClose={onClose}
      act={(form) => {
        const changed = changedParams(params, jsonIn(form, 'params', 'The parameters'));
        return ask(
          'retry',
          givenParts({
            from: formText(form, 'from'),
            params: Object.keys(changed).length === 0 ? undefined : changed,
            latest: form.get('latest') === null ? undefined : true,
            reason: formText(form, 'reason'),
          }),
        );
      }}
    >
      <label>
        From
        <select
          name="from"
          value={from}
          required={!hasFailed}
          onChange={({ currentTarget }) => setFrom(currentTarget.value)}
        >
          {hasFailed && <option value="">the step that failed</option>}
          <StepOptions steps={some} />
        </select>
      </label>
      {from !== '' && <p class="box warning">This and what comes after it is done again.</p>}
      <label>
        Parameters of the job{' '}
        <small>
          (by step or task, as {'{"load": {"table": "b"}}'}; what you leave out stays as it is)
        </small>
        <textarea name="params" spellcheck={false} rows={7} defaultValue={before} />
      </label>
      {last?.params !== undefined && (
        <details>
          <summary>What {last.name} got the last time</summary>
          <JsonView value={last.params} what={`parameters of ${last.name}`} />
        </details>
      )}
      <label class="check">
        <input type="checkbox" name="latest" /> With the flow and the tasks as they are stored now
      </label>
      <ReasonField />
    </AskDialog>
  );
}
