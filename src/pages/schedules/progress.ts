import { readScheduleProgress, type ScheduleProgress } from '../../model/schedule.js';
import '../editor/own-check.js';
import type { AnyDocument } from '../answers.js';

/** What engines wrote of the progress of a schedule; undefined: nothing yet, or somebody broke it. */
export function scheduleProgress({ progress }: AnyDocument): ScheduleProgress | undefined {
  return readScheduleProgress(progress);
}
