import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { toldOccasions } from '../../model/occasions.js';
import { send } from '../api.js';
import { Dialog } from '../parts/dialog.js';
import { ProblemBox } from '../parts/problem-box.js';

type Sent = {
  readonly from: string;
  readonly at: number;
  readonly kind: string;
  readonly to: string;
  readonly job: string;
};

type Props = { readonly owner: string; readonly onClose: () => void };

/** Sends a test to whoever is told of jobs of an owner, and leads to the jobs that send it. */
export function NotifyTestDialog({ owner, onClose }: Props) {
  const [sent, setSent] = useState<readonly Sent[]>();
  const [error, setError] = useState<unknown>();
  const [event, setEvent] = useState<string>('failed');
  const test = async (): Promise<void> => {
    setError(undefined);
    setSent(undefined);
    const path = `notify/${encodeURIComponent(owner)}/test`;
    const { tests } = await send<{ readonly tests: readonly Sent[] }>('POST', path, { event });
    setSent(tests);
  };
  return (
    <Dialog title="Send a test" onClose={onClose}>
      <form
        class="ask"
        onSubmit={(submitted) => {
          submitted.preventDefault();
          test().catch(setError);
        }}
      >
        <p>
          Sends what the event of a job of owner {owner} would send: a message by each notify list
          that asks for the event, also by that of <code>tws.json</code>.
        </p>
        <label>
          Event
          <select value={event} onChange={({ currentTarget }) => setEvent(currentTarget.value)}>
            {toldOccasions.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        {error !== undefined && <ProblemBox error={error} />}
        {sent !== undefined && <Results sent={sent} event={event} />}
        <div class="buttons end">
          <button type="button" onClick={onClose}>
            Close
          </button>
          <button class="primary">Send</button>
        </div>
      </form>
    </Dialog>
  );
}

type ResultsProps = { readonly sent: readonly Sent[]; readonly event: string };

function Results({ sent, event }: ResultsProps) {
  if (sent.length === 0) return <p role="status">Nobody is told of "{event}".</p>;
  return (
    <div role="status">
      <p>An engine sends it; the job tells whether that worked.</p>
      <ul>
        {sent.map(({ from, at, kind, to, job }) => (
          <li key={job}>
            <Link href={`/jobs/${encodeURIComponent(job)}`}>
              {kind} {to}
            </Link>{' '}
            <span class="muted">
              entry {at} of {from}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
