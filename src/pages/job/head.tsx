import { Link } from 'wouter-preact';
import type { FlowVersion } from '../../model/flow-versions.js';
import { begunAt, type StoredJob } from '../answers.js';
import { LiveWord } from '../live/live-word.js';
import type { LiveState } from '../live/changes.js';
import { Copy } from '../parts/copy.js';
import { Fact } from '../parts/fact.js';
import { PageHead } from '../parts/page-head.js';
import { StatusWord } from '../parts/status.js';
import { Ago, Took } from '../parts/time.js';
import { flowOwner } from './flow-owner.js';
import { UniqueFacts } from './unique-facts.js';
import { StartedBy } from './started-by.js';
import { StepProgress } from './step-progress.js';
import { versionOfJob } from './use-flow-versions.js';
import type { StoredAttempt } from './attempts.js';

type Props = {
  readonly job: StoredJob;
  readonly attempts: readonly StoredAttempt[];
  readonly live: LiveState;
  /** Those of its flow, where it has not ended. */
  readonly versions: readonly FlowVersion[] | undefined;
};

/** What a job is and how it stands, in a few lines. */
export function JobHead({ job, attempts, live, versions = [] }: Props) {
  const { id, status, flow, owner, end, exit, tags = [], external_id, parent } = job;
  const running = attempts.filter(({ state }) => state === '$$active' || state === '$$ready');
  return (
    <>
      <PageHead title={id}>
        <Copy text={id} what="the id" />
        <StatusWord status={status} custom={job.custom_status} />
        <LiveWord state={live} />
      </PageHead>
      <dl class="facts wide">
        <Fact
          name="Flow"
          value={
            flow === undefined ? (
              'steps of its own'
            ) : (
              <Link href={`/flows/${encodeURIComponent(`${flow}::${flowOwner(job)}`)}`}>
                {flow}
              </Link>
            )
          }
        />
        <VersionFact job={job} versions={versions} />
        <Fact name="Owner" value={owner} />
        <Fact name="Began" value={<Ago at={begunAt(job)} />} />
        <Fact
          name={end === undefined ? 'Takes' : 'Took'}
          value={<Took from={begunAt(job)} to={end} />}
        />
        {exit !== undefined && <Fact name="Exit" value={String(exit)} />}
        {job.target !== undefined && <Fact name="Target" value={job.target} />}
        {job.queue !== undefined && <Fact name="Queue" value={job.queue} />}
        {job.priority !== undefined && <Fact name="Priority" value={String(job.priority)} />}
        {external_id !== undefined && <Fact name="External id" value={external_id} />}
        {parent !== undefined && <Fact name="Parent job" value={<JobLink id={parent} />} />}
        <UniqueFacts job={job} />
        <Notifications job={job} />
        {tags.length > 0 && (
          <Fact
            name="Tags"
            value={tags.map((tag) => (
              <Link key={tag} class="tag" href={`/jobs?tag=${encodeURIComponent(tag)}`}>
                {tag}
              </Link>
            ))}
          />
        )}
      </dl>
      <StartedBy origin={job.origin} />
      {running.length === 1 && <StepProgress value={running[0]?.progress} />}
    </>
  );
}

type VersionProps = {
  readonly job: StoredJob;
  readonly versions: readonly FlowVersion[];
};

/** Which version of its flow the job runs, and which is current now. */
function VersionFact({ job, versions }: VersionProps) {
  const own = versionOfJob(job);
  const current = versions.find((one) => one.current);
  const isOther = current !== undefined && current.version !== own;
  if (own === undefined && !(isOther && job.document['flow_rev'] !== undefined)) return null;
  return (
    <Fact
      name="Version"
      value={
        <>
          {own ?? 'none'}
          {isOther && (
            <>
              {' '}
              (
              <Link href={`/flows/${encodeURIComponent(current.id)}`}>
                current: {current.version ?? 'without a version'}
              </Link>
              )
            </>
          )}
        </>
      }
    />
  );
}

/** A notification, as far as the document can be trusted. */
type Made = { readonly id?: unknown } | null;

/** The job that a notification tells of, and the notifications of this one. */
function Notifications({ job: { document } }: Pick<Props, 'job'>) {
  const { notifies, notifications } = document;
  const { job: subject } = (notifies ?? {}) as { readonly job?: unknown };
  const made = Array.isArray(notifications) ? (notifications as readonly Made[]) : [];
  const ids = made.map((one) => one?.id).filter((id) => typeof id === 'string');
  return (
    <>
      {typeof subject === 'string' && <Fact name="Tells of job" value={<JobLink id={subject} />} />}
      {ids.length > 0 && (
        <div>
          <dt>Notifications</dt>
          {ids.map((id) => (
            <dd key={id}>
              <JobLink id={id} />
            </dd>
          ))}
        </div>
      )}
    </>
  );
}

function JobLink({ id }: { readonly id: string }) {
  return <Link href={`/jobs/${encodeURIComponent(id)}`}>{id}</Link>;
}
