import { useCallback, useMemo } from 'preact/hooks';
import { Link, useSearchParams } from 'wouter-preact';
import type { Picture } from '../../picture/picture.js';
import { ApiProblem } from '../api.js';
import type { StoredJob } from '../answers.js';
import { FlowGraph } from '../graph/flow-graph.js';
import { pictureOfJob } from '../graph/picture-of.js';
import { Loading } from '../parts/loading.js';
import { PageHead } from '../parts/page-head.js';
import { ProblemBox } from '../parts/problem-box.js';
import { Tabs } from '../parts/tabs.js';
import { attemptsIn, isAt, type StoredAttempt } from './attempts.js';
import { JobHead } from './head.js';
import { JobPart, jobTabs } from './parts.js';
import type { StepChoice } from './questions.js';
import { Repairs } from './repairs.js';
import { StepPanel } from './step-panel.js';
import { Timeline } from './timeline.js';
import { useJob } from './use-job.js';
import { Why } from './why.js';

/** The page of one job: how it stands, why, and what can be done about it. */
export function JobPage({ id }: { readonly id: string }) {
  const { value: job, error, reload, live, explained } = useJob(id);
  const document = job?.document;
  const attempts = useMemo(() => (document === undefined ? [] : attemptsIn(document)), [document]);
  const picture = useMemo(() => document && pictureOfJob(document), [document]);
  const [said, setSaid] = useSaid();
  const select = (step: string): void => {
    const path = attempts.findLast(({ path, name }) => path === step || name === step)?.path;
    setSaid('step', path ?? step);
  };
  if (job === undefined)
    return error === undefined ? (
      <Loading what="the job" />
    ) : (
      <Away id={id} error={error} again={reload} />
    );
  const selected = said.step ?? looked(job, attempts);
  return (
    <>
      <JobHead job={job} attempts={attempts} live={live} />
      {error !== undefined && <ProblemBox error={error} again={reload} />}
      <Why job={job} explained={explained} onStep={select} />
      <Repairs
        job={job}
        attempts={attempts}
        steps={stepsOf(picture)}
        selected={said.step}
        onDone={reload}
      />
      <div class="job-columns">
        <section class="box" aria-label="Graph">
          {picture === undefined ? (
            <p class="muted">The job has not begun; its steps are those of its flow.</p>
          ) : (
            <FlowGraph
              picture={picture}
              label={`Graph of job ${id}`}
              selected={
                picture.nodes.find(({ path }) => selected !== undefined && isAt(selected, path))
                  ?.path
              }
              onSelect={(path) => setSaid('step', path)}
            />
          )}
        </section>
        {selected !== undefined && (
          <StepPanel
            job={id}
            attempts={attempts}
            path={selected}
            node={picture?.nodes.find(({ path, kind }) => kind !== 'meet' && isAt(selected, path))}
          />
        )}
      </div>
      <section class="box">
        <h2>Timeline</h2>
        <Timeline
          attempts={attempts}
          start={job.start}
          end={job.end}
          selected={selected}
          onSelect={select}
        />
      </section>
      <Tabs
        label="Parts of the job"
        tabs={jobTabs}
        open={jobTabs.find(({ key }) => key === said.tab)?.key ?? 'steps'}
        onOpen={(key) => setSaid('tab', key)}
      >
        <JobPart tab={said.tab ?? 'steps'} job={job} attempts={attempts} onSelect={select} />
      </Tabs>
    </>
  );
}

type Said = { readonly step?: string; readonly tab?: string };

/** What is looked at stands in the address, so that it can be sent to somebody. */
function useSaid(): readonly [Said, (name: keyof Said, value: string) => void] {
  const [search, setSearch] = useSearchParams();
  const step = search.get('step');
  const tab = search.get('tab');
  const said = { ...(step === null ? {} : { step }), ...(tab === null ? {} : { tab }) };
  const set = useCallback(
    (name: keyof Said, value: string) => {
      setSearch(
        (before) => {
          const after = new URLSearchParams(before);
          after.set(name, value);
          return after;
        },
        { replace: true },
      );
    },
    [setSearch],
  );
  return [said, set];
}

/** The step that is shown when nobody has chosen one: where it failed, else where it is. */
function looked(
  { failure, status }: StoredJob,
  attempts: readonly StoredAttempt[],
): string | undefined {
  const failed =
    status === 'failed'
      ? (attempts.findLast(
          (one) => one.failed && (one.name === failure?.step || one.path === failure?.step),
        ) ?? attempts.findLast((one) => one.failed))
      : undefined;
  return (failed ?? attempts.findLast(({ open }) => open) ?? attempts.at(-1))?.path;
}

/** What can be retried or skipped: everything that is a step, or a structure with a name of its own. */
function stepsOf(picture: Picture | undefined): readonly StepChoice[] {
  return (picture?.nodes ?? []).flatMap(({ path, kind, label }) => {
    const isStep = ['task', 'wait', 'delay', 'flow', 'decider', 'map', 'loop'].includes(kind);
    return isStep && !path.includes('*') ? [{ path, name: label }] : [];
  });
}

type AwayProps = { readonly id: string; readonly error: unknown; readonly again: () => void };

function Away({ id, error, again }: AwayProps) {
  const isGone = error instanceof ApiProblem && error.status === 404;
  if (!isGone) return <ProblemBox error={error} again={again} />;
  return (
    <>
      <PageHead title="No such job" />
      <p>
        There is no job <code>{id}</code>, or it belongs to an owner whose jobs you may not see.{' '}
        <Link href="/jobs">All jobs</Link>
      </p>
    </>
  );
}
