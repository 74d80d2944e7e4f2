import type { Status } from '../../model/status.js';
import { shownStatuses, type JobCounts } from '../answers.js';

type Props = {
  /** Absent where nobody has counted what the filter asks for. */
  readonly counts: JobCounts | undefined;
  readonly chosen: readonly Status[];
  readonly onChoose: (chosen: readonly Status[]) => void;
};

/** How many jobs there are of each status; a status that is pressed is listed. */
export function StatusTabs({ counts, chosen, onChoose }: Props) {
  const total = counts && Object.values(counts).reduce((sum, one) => sum + one, 0);
  return (
    <div class="status-tabs" role="group" aria-label="Status">
      <Tab
        name="all"
        tone=""
        count={total}
        pressed={chosen.length === 0}
        onPress={() => onChoose([])}
      />
      {shownStatuses.map((status) => (
        <Tab
          key={status}
          name={status}
          tone={status}
          count={counts?.[status]}
          pressed={chosen.includes(status)}
          onPress={() =>
            onChoose(
              chosen.includes(status)
                ? chosen.filter((one) => one !== status)
                : [...chosen, status],
            )
          }
        />
      ))}
    </div>
  );
}

type TabProps = {
  readonly name: string;
  readonly tone: string;
  readonly count: number | undefined;
  readonly pressed: boolean;
  readonly onPress: () => void;
};

function Tab({ name, tone, count, pressed, onPress }: TabProps) {
  return (
    <button
      type="button"
      class={`tab ${tone} ${count === undefined || count === 0 ? '' : 'some'}`}
      aria-pressed={pressed}
      onClick={onPress}
    >
      {name}
      {count !== undefined && <b class="number">{count.toLocaleString()}</b>}
    </button>
  );
}
