import { useCallback, useMemo } from 'preact/hooks';
import { Link, useSearchParams } from 'wouter-preact';
import type { Picture } from '../../picture/picture.js';
import { withoutConcealedAnswers } from '../../reading/form-facts.js';
import { entryKinds, structureKinds } from '../../structures/kinds.js';
import { placeWord } from '../../structures/paths.js';
import { ApiProblem } from '../api.js';
import type { AnyDocument, StoredJob } from '../answers.js';
import { isRecord } from '../editor/schema-at.js';
import { FlowGraph } from '../graph/flow-graph.js';
import { drawnJob } from '../graph/picture-of.js';
import { FormsOfJob } from '../inbox/inbox.js';
import { Loading } from '../parts/loading.js';
import { PageHead } from '../parts/page-head.js';
import { ProblemBox } from '../parts/problem-box.js';
import { Tabs } from '../parts/tabs.js';
import { attemptsIn, isAt, type StoredAttempt } from './attempts.js';
import { Caught } from './caught.js';
import { firstShown, stepMeant } from './chosen-step.js';
import { JobHead } from './head.js';
import { stepTree } from './outline.js';
import { JobPart, jobTabs } from './parts.js';
import type { StepChoice } from './questions.js';
import { Repairs } from './repairs.js';
import { StepPanel } from './step-panel.js';
import { Timeline } from './timeline.js';
import './job.css';
import { useFlowVersions } from './use-flow-versions.js';
import { useJob } from './use-job.js';
import { useOutline } from './use-outline.js';
import { Why } from './why.js';

/** The page of one job: how it stands, why, and what can be done about it. */
export function JobPage({ id }: { readonly id: string }) {
  const { value: job, error, reload, live, explained } = useJob(id);
  if (job === undefined)
    return error === undefined ? (
      <Loading what="the job" />
    ) : (
      <Away id={id} error={error} again={reload} />
    );
  return <JobView {...{ job, error, reload, live, explained }} />;
}

type ViewProps = Omit<ReturnType<typeof useJob>, 'value' | 'isLoading'> & {
  readonly job: StoredJob;
};

function JobView({ job: stored, error, reload, live, explained }: ViewProps) {
  const job = useMemo(() => shownOf(stored), [stored]);
  const { attempts, picture, failed, caught, maySkip, nodes, steps, places } = useReading(job);
  const [outline, versions] = [useOutline(nodes), useFlowVersions(job)];
  const [said, setSaid] = useSaid();
  const searched = { job, attempts, failed };
  const select = (step: string): void => setSaid('step', stepMeant(step, searched));
  const selected = said.step === undefined ? firstShown(searched) : stepMeant(said.step, searched);
  const skippable = useMemo(
    () => skipChoices(steps, attempts, selected).filter(({ path }) => maySkip(path)),
    [steps, attempts, selected, maySkip],
  );
  const { id, start, end } = job;
  return (
    <>
      <JobHead {...{ job, attempts, live, versions }} />
      {error !== undefined && <ProblemBox error={error} again={reload} />}
      <Why job={job} explained={explained} onStep={select} />
      <FormsOfJob job={id} asked={askedBy(job)} />
      <Caught caught={caught} onStep={select} />
      <Repairs
        {...{ job, attempts, steps: places, skippable }}
        selected={said.step}
        versions={versions ?? []}
        onDone={reload}
      />
      <div class="job-columns">
        <GraphBox id={id} picture={picture} selected={selected} onSelect={select} />
        {selected !== undefined && (
          <StepPanel
            job={id}
            attempts={attempts}
            path={selected}
            node={picture?.nodes.find(({ path, kind }) => kind !== 'meet' && isAt(selected, path))}
            nodes={nodes}
            onSelect={select}
          />
        )}
      </div>
      <section class="box">
        <h2>Timeline</h2>
        <Timeline {...{ attempts, outline, start, end, selected }} onSelect={select} />
      </section>
      <Tabs
        label="Parts of the job"
        tabs={jobTabs}
        open={jobTabs.find(({ key }) => key === said.tab)?.key ?? 'steps'}
        onOpen={(key) => setSaid('tab', key)}
      >
        <JobPart
          tab={said.tab ?? 'steps'}
          {...{ job, attempts, outline, selected }}
          onSelect={select}
        />
      </Tabs>
    </>
  );
}

/** A job without the answers to forms that are not shown. */
function shownOf(job: StoredJob): StoredJob {
  return { ...job, document: withoutConcealedAnswers(job.document) };
}

/** What steps ask of people now, as a text: the forms are read again when it changes. */
function askedBy({ document: { steps } }: StoredJob): string {
  const all = (Array.isArray(steps) ? steps : []) as readonly (AnyDocument | null)[];
  const waits = all.filter((step) => step?.['state'] === '$$waiting' && isRecord(step['form']));
  return waits.length === 0 ? '' : JSON.stringify(waits);
}

/** Reads from a job what several parts of the page show; again only when its document changes. */
function useReading({ document }: StoredJob) {
  const attempts = useMemo(() => attemptsIn(document), [document]);
  const drawn = useMemo(() => drawnJob(document), [document]);
  const { picture, states } = drawn;
  const nodes = useMemo(
    () => stepTree(attempts, document, { labels: labelsIn(picture), states }),
    [attempts, document, picture, states],
  );
  const steps = useMemo(() => nodesOf(entryKinds, picture), [picture]);
  const places = useMemo(
    () =>
      nodesOf({ ...entryKinds, ...structureKinds }, picture).map(({ path, name }) => ({
        path: placeWord(path),
        name,
      })),
    [picture],
  );
  return { ...drawn, attempts, nodes, steps, places };
}

type GraphProps = {
  readonly id: string;
  readonly picture: Picture | undefined;
  readonly selected: string | undefined;
  readonly onSelect: (step: string) => void;
};

/** The graph of the job, or a note while there is none. */
function GraphBox({ id, picture, selected, onSelect }: GraphProps) {
  return (
    <section class="box" aria-label="Graph">
      {picture === undefined ? (
        <p class="muted">The job has not begun; its steps are those of its flow.</p>
      ) : (
        <FlowGraph
          picture={picture}
          label={`Graph of job ${id}`}
          selected={
            picture.nodes.find(({ path }) => selected !== undefined && isAt(selected, path))?.path
          }
          onSelect={onSelect}
        />
      )}
    </section>
  );
}

/** What structures are called, by their path in the definition. */
function labelsIn(picture: Picture | undefined): ReadonlyMap<string, string> {
  const named = (picture?.nodes ?? []).filter(({ kind }) => kind !== 'meet');
  return new Map(named.map(({ path, label, id }) => [id.startsWith('#') ? id : path, label]));
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

/** The steps that a request can name without an item, or the structures. */
function nodesOf(kinds: object, picture: Picture | undefined): readonly StepChoice[] {
  return (picture?.nodes ?? []).flatMap(({ path, kind, label }) =>
    Object.hasOwn(kinds, kind) && !path.includes('*') ? [{ path, name: label }] : [],
  );
}

/** What can be skipped: also the step of an item that is looked at. */
function skipChoices(
  steps: readonly StepChoice[],
  attempts: readonly StoredAttempt[],
  selected: string | undefined,
): readonly StepChoice[] {
  const own = attempts.find(({ path }) => path === selected);
  const isListed = steps.some(({ path }) => path === selected);
  return own === undefined || isListed ? steps : [...steps, { path: own.path, name: own.name }];
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
