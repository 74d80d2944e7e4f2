import { useState } from 'preact/hooks';
import { send } from '../api.js';
import type { FlowVersion } from '../../model/flow-versions.js';
import { isEnded, type RequestAnswer, type StoredJob } from '../answers.js';
import { LevelButton } from '../parts/level-button.js';
import { say } from '../parts/toasts.js';
import { isObject } from '../../model/object.js';
import type { StoredAttempt } from './attempts.js';
import { MigrateQuestion, MoveButton } from './migrate-question.js';
import { RemoveJob } from './remove-job.js';
import {
  CancelQuestion,
  NoteQuestion,
  PauseQuestion,
  RetryQuestion,
  SignalQuestion,
  SkipQuestion,
  type AskedOf,
  type StepChoice,
} from './questions.js';

type Props = {
  readonly job: StoredJob;
  readonly attempts: readonly StoredAttempt[];
  /** Every step and structure of the picture, from which the job can be run again. */
  readonly steps: readonly StepChoice[];
  /** Those that the API would let be skipped now. */
  readonly skippable: readonly StepChoice[];
  /** The step that is looked at. */
  readonly selected: string | undefined;
  /** Those of its flow, as they are stored now. */
  readonly versions: readonly FlowVersion[];
  readonly onDone: () => void;
};

type Word = 'retry' | 'cancel' | 'pause' | 'skip' | 'signal' | 'notes' | 'migrate';

/** Everything that can be asked of a job; what makes no sense now is not there. */
export function Repairs(props: Props) {
  const { job, onDone } = props;
  const [open, setOpen] = useState<Word>();
  const ask: AskedOf = async (word, body) => {
    const path = `jobs/${encodeURIComponent(job.id)}/${word}`;
    const answer = await send<RequestAnswer>('POST', path, body);
    const isStored = 'outcome' in answer && answer.outcome === 'stored';
    say(isStored ? 'It is stored; an engine will see to it when one runs.' : doneWords[word]);
    if ('notice' in answer && answer.notice !== undefined) say(answer.notice);
    onDone();
  };
  const quickly = (word: 'retry' | 'resume'): void => {
    ask(word, {}).catch((error: unknown) => say((error as Error).message, 'problem'));
  };
  const close = (): void => setOpen(undefined);
  const ended = isEnded(job.status);
  const isHeld = job.status === 'paused' || job.document['paused'] === true;
  // What helps most stands out.
  const emphasis = !isHeld && awaitsSignal(props) ? 'primary' : 'plain';
  const asks = (word: Word, title: string, kind: 'primary' | 'plain' | 'risky' = 'plain') => (
    <LevelButton level="operator" kind={kind} onClick={() => setOpen(word)}>
      {title}
    </LevelButton>
  );
  return (
    <div class="repairs buttons" role="group" aria-label="Repair">
      {ended && job.status !== 'succeeded' && (
        <LevelButton level="operator" kind="primary" onClick={() => quickly('retry')}>
          Retry
        </LevelButton>
      )}
      {ended && asks('retry', job.status === 'succeeded' ? 'Run again from …' : 'Retry with …')}
      {!ended && isHeld && (
        <LevelButton level="operator" kind="primary" onClick={() => quickly('resume')}>
          Resume
        </LevelButton>
      )}
      {!ended && asks('signal', 'Signal …', emphasis)}
      {!ended && !isHeld && asks('pause', 'Pause …')}
      {props.skippable.length > 0 && asks('skip', 'Skip a step …')}
      <MoveButton job={job} versions={props.versions} onClick={() => setOpen('migrate')} />
      {asks('notes', 'Note …')}
      {!ended && asks('cancel', 'Cancel …', 'risky')}
      <RemoveJob job={job} attempts={props.attempts} />
      <Question word={open} ask={ask} onClose={close} {...props} />
    </div>
  );
}

const doneWords: Readonly<Record<Parameters<AskedOf>[0], string>> = {
  retry: 'The job goes on.',
  cancel: 'The job is cancelled.',
  pause: 'No new step begins.',
  resume: 'The job goes on.',
  skip: 'The step is left out.',
  migrate: 'The job goes by that version from now on.',
  signal: 'The signal is sent.',
  notes: 'Noted.',
};

function awaitsSignal({ attempts }: Props): boolean {
  // A form is answered where it stands.
  return attempts.some(({ open, signal, form }) => open && signal !== undefined && !form);
}

type QuestionProps = Props & {
  readonly word: Word | undefined;
  readonly ask: AskedOf;
  readonly onClose: () => void;
};

function Question(props: QuestionProps) {
  const { word, ask, onClose, job, attempts, steps, skippable, selected, versions } = props;
  const shared = { ask, onClose };
  switch (word) {
    case undefined:
      return null;
    case 'retry':
      return (
        <RetryQuestion
          {...shared}
          steps={steps}
          begun={attempts}
          selected={selected ?? job.failure?.step}
          params={isObject(job.document['params']) ? job.document['params'] : {}}
          hasFailed={job.status !== 'succeeded'}
        />
      );
    case 'skip':
      return <SkipQuestion {...shared} steps={skippable} selected={selected} />;
    case 'signal':
      return <SignalQuestion {...shared} attempts={attempts} />;
    case 'cancel':
      return <CancelQuestion {...shared} />;
    case 'pause':
      return <PauseQuestion {...shared} />;
    case 'migrate':
      return <MigrateQuestion {...shared} job={job} versions={versions} />;
    case 'notes':
      return <NoteQuestion {...shared} />;
  }
}
