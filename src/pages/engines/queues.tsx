import { get, send } from '../api.js';
import { usePolled } from '../live/use-polled.js';
import { ProblemBox } from '../parts/problem-box.js';
import { Switch } from '../parts/switch.js';
import { say } from '../parts/toasts.js';

/** So often the queues are looked at, ms. */
const everyMs = 3_000;

/** A queue, as the API answers it. */
type Queue = {
  readonly name: string;
  readonly paused: boolean;
  readonly reason?: string;
  readonly rate?: { readonly limit: number; readonly per: number | string; readonly key?: string };
  readonly engines: readonly string[];
};

/** A control with mistakes, as the API answers it. */
type WrongControl = {
  readonly id: string;
  readonly problems: readonly { readonly path: string; readonly message: string }[];
};

type QueueList = { readonly queues: readonly Queue[]; readonly wrong: readonly WrongControl[] };

/** The queues, with a button to pause each, or to let it go on. */
export function Queues() {
  const { value, error, reload } = usePolled('queues', everyMs, (signal) =>
    get<QueueList>('queues', { signal }),
  );
  if (error !== undefined) return <ProblemBox error={error} again={reload} />;
  if (value === undefined) return null;
  return (
    <section>
      <h2>Queues</h2>
      {value.wrong.map((one) => (
        <Mistakes key={one.id} of={one} />
      ))}
      <ul class="engines">
        {value.queues.map((queue) => (
          <li key={queue.name} class="box">
            <h3>
              {queue.name}{' '}
              <span class={`status ${queue.paused ? 'paused' : 'succeeded'}`}>
                {queue.paused ? 'paused' : 'active'}
              </span>
            </h3>
            <p class="muted">
              {queue.engines.length === 1
                ? '1 engine serves'
                : `${queue.engines.length} engines serve`}{' '}
              it{queue.reason === undefined ? '.' : `: ${queue.reason}`}
            </p>
            {queue.rate === undefined ? null : (
              <p class="muted">
                At most {queue.rate.limit} attempts begin per{' '}
                {typeof queue.rate.per === 'number' ? `${queue.rate.per} ms` : queue.rate.per}
                {queue.rate.key === undefined ? '.' : ', for each value of its key.'}
              </p>
            )}
            <QueueSwitch queue={queue} onSwitched={reload} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Mistakes({ of: { id, problems } }: { readonly of: WrongControl }) {
  return (
    <div class="box problem" role="alert">
      <p>
        Engines follow only what they can read of the control <code>{id}</code>:
      </p>
      <ul>
        {problems.map(({ message }) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
    </div>
  );
}

type Props = { readonly queue: Queue; readonly onSwitched: () => void };

function QueueSwitch({ queue: { name, paused }, onSwitched }: Props) {
  const turn = async (isOn: boolean): Promise<void> => {
    await send('POST', `queues/${encodeURIComponent(name)}/${isOn ? 'resume' : 'pause'}`);
    say(isOn ? 'Its jobs go on.' : 'Its jobs begin no step.');
    onSwitched();
  };
  return (
    <Switch
      isOn={!paused}
      words={{ on: 'Resume', off: 'Pause' }}
      question={`Pause the queue "${name}"?`}
      turn={turn}
    >
      Its jobs begin no step until somebody resumes it, and workers get nothing from it. What runs
      goes on.
    </Switch>
  );
}
