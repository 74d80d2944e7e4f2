import type { StoredJob } from '../answers.js';
import { JsonView } from '../parts/json.js';
import { StepWord } from '../parts/status.js';
import { Ago, Took } from '../parts/time.js';
import { beganAt, type StoredAttempt } from './attempts.js';
import { isObject } from '../../model/object.js';
import { History } from './history.js';
import { LogLines, type LogRow } from './log.js';

/** The parts of a job below its picture. */
export const jobTabs = [
  { key: 'steps', title: 'Steps' },
  { key: 'log', title: 'Log' },
  { key: 'history', title: 'History' },
  { key: 'params', title: 'Parameters and data' },
  { key: 'document', title: 'Document' },
] as const;

type Props = {
  readonly tab: string;
  readonly job: StoredJob;
  readonly attempts: readonly StoredAttempt[];
  readonly onSelect: (path: string) => void;
};

/** The part that is open. */
export function JobPart({ tab, job, attempts, onSelect }: Props) {
  const { document } = job;
  if (tab === 'log') return <Log job={job} attempts={attempts} />;
  if (tab === 'history') return <History job={job.id} rev={job.rev} />;
  if (tab === 'document') return <JsonView value={document} what="the document" />;
  if (tab === 'params') return <Values job={job} />;
  return <Steps attempts={attempts} onSelect={onSelect} />;
}

/** More rows are cut: the newest are shown. */
const mostRows = 500;

type StepsProps = Pick<Props, 'attempts' | 'onSelect'>;

function Steps({ attempts, onSelect }: StepsProps) {
  if (attempts.length === 0) return <p class="muted">No step has begun yet.</p>;
  const shown = attempts.slice(-mostRows);
  return (
    <>
      {shown.length < attempts.length && (
        <p class="muted">
          The last {mostRows} of {attempts.length} attempts.
        </p>
      )}
      <div class="table" tabIndex={0} role="region" aria-label="Attempts of the steps">
        <table>
          <thead>
            <tr>
              <th scope="col">Step</th>
              <th scope="col">State</th>
              <th scope="col" class="number">
                Attempt
              </th>
              <th scope="col">Began</th>
              <th scope="col">Took</th>
              <th scope="col">Engine</th>
              <th scope="col">Why it failed</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((one) => (
              <tr key={one.place}>
                <th scope="row">
                  <button type="button" class="quiet inline" onClick={() => onSelect(one.path)}>
                    {one.name}
                  </button>{' '}
                  <small class="muted mono">{one.path}</small>
                </th>
                <td>
                  <StepWord state={one.state} />
                </td>
                <td class="number">{one.attempt}</td>
                <td class="nowrap">
                  <Ago at={beganAt(one)} />
                </td>
                <td class="nowrap">
                  <Took from={one.start ?? beganAt(one)} to={one.end} />
                </td>
                <td class="mono engine" title={one.engine}>
                  {one.engine?.replace(/^engine:/, '')}
                </td>
                <td class="with">{one.failure?.message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Log({ job: { document }, attempts }: Pick<Props, 'job' | 'attempts'>) {
  const { notes } = document;
  const noted = (Array.isArray(notes) ? (notes as readonly unknown[]) : [])
    .filter(isObject)
    .map(({ at, text, by }): LogRow => ({
      at: typeof at === 'number' ? at : 0,
      from: typeof by === 'string' ? `note by ${by}` : 'note',
      message: String(text),
    }));
  const logged = attempts.flatMap(({ name, attempt, log }) =>
    log.map((line) => ({ ...line, from: attempt > 1 ? `${name} #${attempt}` : name })),
  );
  const lines: readonly LogRow[] = [...logged, ...noted].toSorted((a, b) => a.at - b.at);
  if (lines.length === 0)
    return <p class="muted">No step has told anything, and nobody noted anything.</p>;
  return <LogLines lines={lines} />;
}

function Values({ job: { document } }: Pick<Props, 'job'>) {
  const { params, data, result, problems, signals, keys } = document;
  const parts = { params, data, result, problems, signals, keys };
  const given = Object.entries(parts).filter(([, value]) => value !== undefined);
  if (given.length === 0) return <p class="muted">The job was given no parameters.</p>;
  return (
    <div class="values">
      {given.map(([name, value]) => (
        <section key={name}>
          <h3>{valueNames[name as keyof typeof parts]}</h3>
          <JsonView value={value} what={valueNames[name as keyof typeof parts].toLowerCase()} />
        </section>
      ))}
    </div>
  );
}

const valueNames = {
  params: 'Parameters',
  data: 'Shared data',
  result: 'Result',
  problems: 'Problems',
  signals: 'Signals',
  keys: 'Search keys',
} as const;
