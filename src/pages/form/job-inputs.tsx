import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { delayUnits, type DelayUnit, type JobDraft } from './job-draft.js';
import type { Mistakes } from './mistakes.js';
import { zoneName } from './moments.js';

type Props = {
  readonly draft: JobDraft;
  readonly onDraft: (draft: JobDraft) => void;
  readonly mistakes: Mistakes;
  /** Owners that whoever sits here may submit for. */
  readonly owners: 'all' | readonly string[];
  /** The flow is for all owners. */
  readonly isOwnerFree: boolean;
};

/** What may be said about a job beside its parameters. */
export function JobInputs(props: Props) {
  const { draft, onDraft, mistakes, owners, isOwnerFree } = props;
  const set = (part: Partial<JobDraft>): void => onDraft({ ...draft, ...part });
  const isWrong = ['owner', 'priority', 'exec_after', 'keys', 'tags', 'target', 'queue'].some(
    (key) => mistakes[key] !== undefined,
  );
  return (
    <details class="advanced" open={isWrong || undefined}>
      <summary>When, for whom, and how it is found</summary>
      <Start draft={draft} set={set} mistake={mistakes['exec_after']} />
      <Owner
        draft={draft}
        set={set}
        mistake={mistakes['owner']}
        owners={owners}
        isFree={isOwnerFree}
      />
      <Line
        label="Priority"
        note="0 is first, 999 last; 500 when nothing is said."
        mistake={mistakes['priority']}
        value={draft.priority}
        onValue={(priority) => set({ priority })}
        isNumber
      />
      <SearchTerms draft={draft} set={set} mistakes={mistakes} />
      <Line
        label="Idempotency key"
        note="The same key again means the same job: nothing is done twice."
        mistake={undefined}
        value={draft.idempotencyKey}
        onValue={(idempotencyKey) => set({ idempotencyKey })}
      />
      <Line
        label="Target"
        note="What it works on: while it has not ended, no other with the same target and parameters begins."
        mistake={mistakes['target']}
        value={draft.target}
        onValue={(target) => set({ target })}
      />
      <Line
        label="Queue"
        note="Only engines that serve it take the job; that of the flow when nothing is said."
        mistake={mistakes['queue']}
        value={draft.queue}
        onValue={(queue) => set({ queue })}
      />
    </details>
  );
}

type PartProps = {
  readonly draft: JobDraft;
  readonly set: (part: Partial<JobDraft>) => void;
  readonly mistake: string | undefined;
};

const starts = { now: 'At once', later: 'After a delay', at: 'At a time' } as const;

function Start({ draft, set, mistake }: PartProps) {
  const { start, delay, unit, at } = draft;
  return (
    <fieldset class="form-group">
      <legend>Start</legend>
      <div class="choices">
        {(['now', 'later', 'at'] as const).map((one) => (
          <label key={one} class="flag">
            <input
              type="radio"
              name="start"
              checked={start === one}
              onChange={() => set({ start: one })}
            />
            {starts[one]}
          </label>
        ))}
      </div>
      {start === 'later' && (
        <span class="input-line">
          <input
            aria-label="Delay"
            aria-invalid={mistake !== undefined}
            inputMode="decimal"
            value={delay}
            onInput={({ currentTarget }) => set({ delay: currentTarget.value })}
          />
          <select
            aria-label="Unit of the delay"
            value={unit}
            onChange={({ currentTarget }) => set({ unit: currentTarget.value as DelayUnit })}
          >
            {Object.keys(delayUnits).map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </span>
      )}
      {start === 'at' && (
        <span class="input-line">
          <input
            type="datetime-local"
            aria-label="Not before"
            aria-invalid={mistake !== undefined}
            value={at}
            onInput={({ currentTarget }) => set({ at: currentTarget.value })}
          />
          <span class="muted">{zoneName()}</span>
        </span>
      )}
      {mistake !== undefined && <p class="mistake">{mistake}</p>}
    </fieldset>
  );
}

type OwnerProps = PartProps & Pick<Props, 'owners'> & { readonly isFree: boolean };

function Owner({ draft, set, mistake, owners, isFree }: OwnerProps) {
  const note = isFree ? 'The flow is for all owners.' : 'The flow belongs to this owner.';
  const value = draft.owner;
  return (
    <Frame label="Owner" note={note} mistake={mistake}>
      {(ties) =>
        isFree && owners !== 'all' ? (
          <select
            {...ties}
            value={value}
            onChange={({ currentTarget }) => set({ owner: currentTarget.value })}
          >
            {owners.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        ) : (
          <input
            {...ties}
            readOnly={!isFree}
            value={value}
            onInput={({ currentTarget }) => set({ owner: currentTarget.value })}
          />
        )
      }
    </Frame>
  );
}

type SearchProps = Pick<PartProps, 'draft' | 'set'> & Pick<Props, 'mistakes'>;

/** The tags and keys that the job can be found by. */
function SearchTerms({ draft, set, mistakes }: SearchProps) {
  return (
    <>
      <Line
        label="Tags"
        note="Words to find it by, with commas between them."
        mistake={mistakes['tags']}
        value={draft.tags}
        onValue={(tags) => set({ tags })}
      />
      <Frame label="Search keys" note="NAME=VALUE, one in each line." mistake={mistakes['keys']}>
        {(ties) => (
          <textarea
            {...ties}
            rows={2}
            value={draft.keys}
            onInput={({ currentTarget }) => set({ keys: currentTarget.value })}
          />
        )}
      </Frame>
    </>
  );
}

type LineProps = {
  readonly label: string;
  readonly note: string;
  readonly mistake: string | undefined;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly isNumber?: boolean;
};

function Line({ label, note, mistake, value, onValue, isNumber = false }: LineProps) {
  return (
    <Frame label={label} note={note} mistake={mistake}>
      {(ties) => (
        <input
          {...ties}
          {...(isNumber ? { inputMode: 'numeric', class: 'number-input' } : {})}
          autocomplete="off"
          value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
    </Frame>
  );
}

type Ties = {
  readonly id: string;
  readonly 'aria-describedby': string;
  readonly 'aria-invalid': boolean;
};

type FrameProps = Pick<LineProps, 'label' | 'note' | 'mistake'> & {
  readonly children: (ties: Ties) => ComponentChildren;
};

function Frame({ label, note, mistake, children }: FrameProps) {
  const id = useId();
  const isWrong = mistake !== undefined;
  const about = isWrong ? `${id}-note ${id}-mistake` : `${id}-note`;
  return (
    <div class={isWrong ? 'form-field wrong' : 'form-field'}>
      <label for={id}>
        {label} <span class="muted optional">(optional)</span>
      </label>
      {children({ id, 'aria-describedby': about, 'aria-invalid': isWrong })}
      <p class="muted note" id={`${id}-note`}>
        {note}
      </p>
      {isWrong && (
        <p class="mistake" id={`${id}-mistake`}>
          {mistake}
        </p>
      )}
    </div>
  );
}
