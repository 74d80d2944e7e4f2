import { isObject } from '../../model/object.js';
import type { StoredDocument } from '../../model/document.js';
import { scheduleStatus } from '../../reading/schedule.js';
import { textOf } from '../../words.js';
import type { DoctorFinding } from './finding.js';

/** Schedules that no engine can follow. */
export function checkSchedules(schedules: readonly StoredDocument[]): readonly DoctorFinding[] {
  return schedules
    .filter((doc) => scheduleStatus(doc) === 'invalid')
    .map(({ _id: id, problems }) => {
      const [first] = Array.isArray(problems) ? (problems as readonly unknown[]) : [];
      return {
        what: `schedule ${id}`,
        verdict: 'fail',
        says: `It starts no job: ${textOf(isObject(first) ? first['message'] : first)}`,
        todo: 'Correct it and store it again; `tws schedule show` tells all that is wrong.',
      };
    });
}
