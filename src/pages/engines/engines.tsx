import { Fact } from '../parts/fact.js';
import { get } from '../api.js';
import type { EngineAnswer } from '../answers.js';
import { usePolled } from '../live/use-polled.js';
import { Loading } from '../parts/loading.js';
import { PageHead } from '../parts/page-head.js';
import { ProblemBox } from '../parts/problem-box.js';
import { Ago } from '../parts/time.js';
import { lengthOf } from '../../words.js';
import { EngineSwitch } from './engine-switch.js';
import { Missing } from './missing.js';
import { UsedLimits } from './limits.js';
import { Queues } from './queues.js';

/** So often the engines are looked at, ms. */
const everyMs = 3_000;

/** Who works here: engines, what they can run, and what they have in hand. */
export function EnginesPage() {
  const { value, error, reload } = usePolled('engines', everyMs, (signal) =>
    get<{ readonly engines: readonly EngineAnswer[] }>('engines', { signal }),
  );
  if (value === undefined) {
    return (
      <>
        <PageHead title="Engines" />
        {error === undefined ? (
          <Loading what="the engines" />
        ) : (
          <ProblemBox error={error} again={reload} />
        )}
      </>
    );
  }
  const engines = value.engines.toSorted(
    (a, b) => Number(b.alive) - Number(a.alive) || b.started - a.started,
  );
  const alive = engines.filter((one) => one.alive);
  return (
    <>
      <PageHead title="Engines">
        <span class="muted">
          {alive.length} alive, {alive.reduce((sum, one) => sum + one.in_hand, 0)} of{' '}
          {alive.reduce((sum, one) => sum + one.slots, 0)} slots used
        </span>
      </PageHead>
      {error !== undefined && <ProblemBox error={error} again={reload} />}
      {alive.length === 0 && (
        <div class="box problem" role="alert">
          <p>
            <strong>No engine is alive: no job moves.</strong>
          </p>
          <p>
            Start one with <code>tws start</code> on any machine that reaches the database.
          </p>
        </div>
      )}
      <Missing engines={alive} />
      <ul class="engines">
        {engines.map((engine) => (
          <Card key={engine.id} engine={engine} onSwitched={reload} />
        ))}
      </ul>
      <Queues />
      <UsedLimits />
    </>
  );
}

const stateHints: Readonly<Record<EngineAnswer['state'], string>> = {
  running: '',
  disabled: 'It takes nothing new; what it has begun goes on.',
  draining: 'It lets its steps finish and takes nothing new.',
  stopped: 'It has ended by itself.',
};

type CardProps = { readonly engine: EngineAnswer; readonly onSwitched: () => void };

function Card({ engine, onSwitched }: CardProps) {
  const { id, host, pid, version, state, alive, slots, in_hand: inHand, started, beat } = engine;
  const { renew_ms: renewMs, queues = ['default'], labels, plugins } = engine;
  const word = alive
    ? state === 'running'
      ? 'alive'
      : state
    : state === 'stopped'
      ? 'stopped'
      : 'no sign of life';
  const tone = alive
    ? state === 'running'
      ? 'succeeded'
      : 'paused'
    : state === 'stopped'
      ? 'cancelled'
      : 'failed';
  return (
    <li class={`box engine ${alive ? '' : 'gone'}`}>
      <h2>
        {host} <small class="muted">process {pid}</small>{' '}
        <span class={`status ${tone}`}>{word}</span>
      </h2>
      <p class="mono muted id">{id}</p>
      {alive && (
        <p class="slots">
          <meter
            min={0}
            max={Math.max(1, slots)}
            value={inHand}
            aria-label={`${inHand} of ${slots} slots used`}
          />{' '}
          {inHand} of {slots} slots used
        </p>
      )}
      {stateHints[state] !== '' && <p>{stateHints[state]}</p>}
      {alive && <EngineSwitch engine={engine} onSwitched={onSwitched} />}
      <dl class="facts">
        <Fact name="Started" value={<Ago at={started} />} />
        <Fact name="Version" value={version} />
        <Fact name="Queues" value={queues.join(', ')} />
        {labels.length > 0 && <Fact name="Labels" value={labels.join(', ')} />}
        <Fact
          name="Lease"
          value={`renewed ${beat.toLocaleString()} times${renewMs === undefined ? '' : `, every ${lengthOf(renewMs)}`}`}
        />
      </dl>
      <details>
        <summary>{plugins.length} plugins</summary>
        <p class="mono">{plugins.toSorted().join(', ')}</p>
      </details>
    </li>
  );
}
