import { usualAtOnce } from '../../model/schedule.js';
import { send } from '../api.js';
import { definitionPath } from '../definitions/stored.js';
import { localText, zoneName } from '../form/moments.js';
import { AskDialog, formText } from '../parts/ask.js';
import { NotJson } from '../parts/not-json.js';
import { say } from '../parts/toasts.js';
import type { ScheduleAnswer } from './stored-schedule.js';

type Props = {
  readonly schedule: ScheduleAnswer;
  readonly onClose: () => void;
  readonly onStored: () => void;
};

const dayMs = 86_400_000;

/** Asks for the period of a backfill, and begins it. */
export function BackfillDialog({ schedule, onClose, onStored }: Props) {
  const today = new Date().setHours(0, 0, 0, 0);
  return (
    <AskDialog
      title={`Backfill ${schedule.name}`}
      does="Begin"
      onClose={onClose}
      act={async (form) => {
        const backfill = backfillIn(form);
        await send('POST', `${definitionPath('schedule', schedule.id)}/backfill`, backfill);
        say('The backfill is stored; an engine begins it.');
        onStored();
      }}
    >
      <p>
        Starts a job for every slot of the period that has none yet, oldest first. Overlapping jobs
        are allowed, up to the number below.
      </p>
      <label>
        From
        <input
          type="datetime-local"
          name="from"
          required
          defaultValue={localText(new Date(today - dayMs))}
        />
      </label>
      <label>
        Until (not included)
        <input
          type="datetime-local"
          name="until"
          required
          defaultValue={localText(new Date(today))}
        />
      </label>
      <label>
        Jobs at once
        <input type="number" name="at_once" min={1} step={1} placeholder={String(usualAtOnce)} />
      </label>
      <p class="muted">Times are those of {zoneName()}.</p>
    </AskDialog>
  );
}

/** What POST backfill is sent. @throws NotJson */
function backfillIn(form: FormData) {
  const moment = (name: string): string => {
    const at = new Date(formText(form, name) ?? '');
    if (Number.isNaN(at.getTime())) throw new NotJson(`"${name}" must be a date with a time.`);
    return at.toISOString();
  };
  const [from, until] = [moment('from'), moment('until')];
  if (from >= until) throw new NotJson('The period must begin before it ends.');
  const atOnce = formText(form, 'at_once');
  return { from, until, ...(atOnce === undefined ? {} : { at_once: Number(atOnce) }) };
}
