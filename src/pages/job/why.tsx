import { Link } from 'wouter-preact';
import type { ExplainAnswer, ReasonAnswer, StoredJob } from '../answers.js';
import { exact } from '../parts/time.js';
import { withCode } from '../parts/with-code.js';

type Props = {
  readonly job: StoredJob;
  readonly explained: ExplainAnswer | undefined;
  readonly onStep: (step: string) => void;
};

/** What matters most about a job: why it failed, or why it does not move. */
export function Why({ job, explained, onStep }: Props) {
  const { status, failure } = job;
  if (status === 'failed' && failure !== undefined) {
    const { name, message, step } = failure;
    return (
      <section class="box problem why" aria-label="Why it failed">
        <h2>
          Failed{step === undefined ? '' : ' at '}
          {step !== undefined && (
            <button type="button" class="quiet inline" onClick={() => onStep(step)}>
              {step}
            </button>
          )}
          : {name}
        </h2>
        <p class="message">{message}</p>
      </section>
    );
  }
  if (status === 'cancelled') return <Cancelled job={job} />;
  if (explained === undefined) return null;
  return <Reasons explained={explained} isRunning={status === 'running'} />;
}

function Cancelled({ job: { document } }: { readonly job: StoredJob }) {
  const { cancel } = document;
  const { by, reason } = (cancel ?? {}) as { readonly by?: unknown; readonly reason?: unknown };
  return (
    <section class="box why" aria-label="Why it was cancelled">
      <h2>Cancelled{typeof by === 'string' && ` by ${by}`}</h2>
      <p class="message">{typeof reason === 'string' ? reason : 'No reason was given.'}</p>
    </section>
  );
}

type ReasonsProps = { readonly explained: ExplainAnswer; readonly isRunning: boolean };

/** Waiting is nothing bad where somebody has it in hand. */
const harmless = new Set(['running', 'soon', 'ended', 'item', 'scheduled']);

function Reasons({ explained: { jobs, settled }, isRunning }: ReasonsProps) {
  const first = jobs[0]?.reasons[0]?.kind ?? 'soon';
  const calm = harmless.has(first);
  return (
    <section class={`box why ${calm ? 'notice' : 'warning'}`} aria-label="Why it is not moving">
      <h2>{isRunning && calm ? 'What it does now' : 'Why it is not moving'}</h2>
      {jobs.map(({ id, status, reasons }, i) => (
        <div key={id}>
          {i > 0 && (
            <h3>
              Child job <Link href={`/jobs/${encodeURIComponent(id)}`}>{id}</Link>, {status}
            </h3>
          )}
          <ul>
            {reasons.map((reason) => (
              <ReasonLine key={`${reason.kind} ${reason.because}`} reason={reason} />
            ))}
          </ul>
        </div>
      ))}
      {!settled && <p class="muted">It is being watched which engines are alive …</p>}
    </section>
  );
}

function ReasonLine({ reason: { because, todo, child, rule } }: { readonly reason: ReasonAnswer }) {
  return (
    <li title={rule === undefined ? undefined : `Rule of the engines: ${rule}`}>
      {withTimes(because)}
      {todo !== undefined && child === undefined && <div class="todo muted">{withCode(todo)}</div>}
    </li>
  );
}

/** Times are told as everywhere on the pages. */
function withTimes(text: string) {
  return text.split(/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/).map((part, i) =>
    i % 2 === 0 ? (
      part
    ) : (
      <time key={i} dateTime={part} title={part}>
        {exact(Date.parse(part))}
      </time>
    ),
  );
}
