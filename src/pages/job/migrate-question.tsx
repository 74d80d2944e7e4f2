import { useState } from 'preact/hooks';
import { versionName, type FlowVersion } from '../../model/flow-versions.js';
import { send } from '../api.js';
import { isEnded, type MigrationsAnswer, type StoredJob } from '../answers.js';
import { useLoaded } from '../live/use-loaded.js';
import { AskDialog, formText } from '../parts/ask.js';
import { LevelButton } from '../parts/level-button.js';
import { ProblemBox } from '../parts/problem-box.js';
import { givenParts, ReasonField, type AskedOf } from './questions.js';
import { hasWhereToMove, versionToPropose } from './use-flow-versions.js';

type ButtonProps = {
  readonly job: StoredJob;
  readonly versions: readonly FlowVersion[];
  readonly onClick: () => void;
};

/** Leads to the move of a job that has not ended, where there is something to which it could move. */
export function MoveButton({ job, versions, onClick }: ButtonProps) {
  if (isEnded(job.status) || !hasWhereToMove(job, versions)) return null;
  const version = versionToPropose(job, versions)?.version;
  return (
    <LevelButton level="operator" onClick={onClick}>
      {version === undefined ? 'Move to the flow as stored …' : `Move to version ${version} …`}
    </LevelButton>
  );
}

type Props = {
  readonly ask: AskedOf;
  readonly onClose: () => void;
  readonly job: StoredJob;
  readonly versions: readonly FlowVersion[];
};

/** Asks to which version of its flow a job is to move, and says before whether it can and what happens then. */
export function MigrateQuestion({ ask, onClose, job, versions }: Props) {
  const [to, setTo] = useState(versionToPropose(job, versions)?.version ?? '');
  const asked = givenParts({ to: to === '' ? undefined : to });
  const { value, error, isLoading } = useLoaded(
    `move of ${job.id} to ${to}, ${String(job.document['_rev'])}`,
    (signal) =>
      send<MigrationsAnswer>('POST', 'jobs/migrate/check', { ids: [job.id], ...asked }, { signal }),
  );
  const found = isLoading ? undefined : value?.jobs[0];
  const refused =
    found === undefined
      ? 'Whether the job can move is not known yet.'
      : found.can === 'moves'
        ? undefined
        : String(found.because);
  return (
    <AskDialog
      title="Move this job to another version"
      does="Move"
      refused={refused}
      onClose={onClose}
      act={(form) =>
        ask('migrate', { ...asked, ...givenParts({ reason: formText(form, 'reason') }) })
      }
    >
      <p>
        What the job has done stays. What has not begun follows the other version; attempts that run
        end as they began.
      </p>
      <label>
        To
        <select name="to" value={to} onChange={({ currentTarget }) => setTo(currentTarget.value)}>
          <option value="">the flow as it is stored now</option>
          {versions.map(({ id, version, current }) =>
            version === undefined ? null : (
              <option key={id} value={version}>
                version {version}
                {current ? ' (current)' : ''}
              </option>
            ),
          )}
        </select>
      </label>
      {error !== undefined && <ProblemBox error={error} />}
      <div role="status">
        {found === undefined && error === undefined && <p class="muted">One moment …</p>}
        {found !== undefined && <Answer found={found} to={to} />}
      </div>
      <ReasonField />
    </AskDialog>
  );
}

type AnswerProps = { readonly found: MigrationsAnswer['jobs'][number]; readonly to: string };

/** Whether it can move, and what happens at once. */
function Answer({ found: { can, because, effects = [] }, to }: AnswerProps) {
  if (can !== 'moves') return <p class="box warning">{because}</p>;
  const what = to === '' ? 'the flow as it is stored now' : `the flow ${versionName(to)}`;
  return (
    <>
      <p class="box">It can move: what it has begun agrees with {what}.</p>
      {effects.length > 0 && (
        <div class="box warning">
          <p>At once:</p>
          <ul>
            {effects.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
