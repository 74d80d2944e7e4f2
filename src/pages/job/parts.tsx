import type { StoredJob } from '../answers.js';
import { ChangedDefinitions } from '../definitions/edition-changes.js';
import { JsonView } from '../parts/json.js';
import type { StoredAttempt } from './attempts.js';
import { isObject } from '../../model/object.js';
import { History } from './history.js';
import { LogLines, type LogRow } from './log.js';
import { StepTable } from './steps.js';
import type { StepOutline } from './use-outline.js';

/** The parts of a job below its picture. */
export const jobTabs = [
  { key: 'steps', title: 'Steps' },
  { key: 'log', title: 'Log' },
  { key: 'history', title: 'History' },
  { key: 'params', title: 'Parameters and data' },
  { key: 'changes', title: 'Changed definitions' },
  { key: 'document', title: 'Document' },
] as const;

type Props = {
  readonly tab: string;
  readonly job: StoredJob;
  readonly attempts: readonly StoredAttempt[];
  readonly outline: StepOutline;
  readonly selected: string | undefined;
  readonly onSelect: (path: string) => void;
};

/** The part that is open. */
export function JobPart({ tab, job, attempts, outline, selected, onSelect }: Props) {
  const { document } = job;
  if (tab === 'log') return <Log job={job} attempts={attempts} />;
  if (tab === 'history') return <History job={job.id} rev={job.rev} />;
  if (tab === 'document') return <JsonView value={document} what="the document" />;
  if (tab === 'changes') return <ChangedDefinitions job={document} />;
  if (tab === 'params') return <Values job={job} />;
  return <StepTable outline={outline} selected={selected} onSelect={onSelect} />;
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
