import type { Client } from '../../client.js';
import type { StoredDocument } from '../../model/document.js';
import { twinScheduleId, twinText } from '../../model/schedule.js';
import { scheduleStatus } from '../../reading/schedule.js';
import { noteSentences, problemSentences } from '../schedules-and-hooks.js';
import type { DoctorFinding } from './finding.js';

/** Schedules that no engine can follow, and those with what is probably a mistake. */
export async function checkSchedules(
  client: Pick<Client, 'find'>,
  schedules: readonly StoredDocument[],
): Promise<readonly DoctorFinding[]> {
  const valid = schedules.filter((doc) => scheduleStatus(doc) !== 'invalid');
  const noted: DoctorFinding[] = [];
  for (const doc of valid) {
    const what = `schedule ${doc._id}`;
    const todo = 'Correct it and store it again, or store what it names.';
    for (const says of await noteSentences(client, doc))
      noted.push({ what, verdict: 'warn', says, todo });
  }
  return [...invalidSchedules(schedules), ...twins(schedules), ...noted];
}

function invalidSchedules(schedules: readonly StoredDocument[]): readonly DoctorFinding[] {
  return schedules
    .filter((doc) => scheduleStatus(doc) === 'invalid')
    .map((doc) => {
      const [first = ''] = problemSentences(doc);
      return {
        what: `schedule ${doc._id}`,
        verdict: 'fail',
        says: `It starts no job: ${first}`,
        todo: 'Correct it and store it again; `tws schedule show` tells all that is wrong.',
      };
    });
}

/** Schedules whose jobs have the same ids, stored by hand. */
function twins(schedules: readonly StoredDocument[]): readonly DoctorFinding[] {
  const ids = new Set(schedules.map(({ _id }) => _id));
  return schedules
    .filter(({ _id }) => !_id.startsWith('schedule:') && ids.has(twinScheduleId(_id)))
    .map(({ _id }) => ({
      what: `schedule ${_id}`,
      verdict: 'fail',
      says: `_id ${twinText(twinScheduleId(_id))}.`,
      todo: 'Store it under another id, and remove this one.',
    }));
}
