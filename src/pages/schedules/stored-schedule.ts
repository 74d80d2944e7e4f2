import type { ScheduleStatus, SlotRecord } from '../../model/schedule.js';
import type { Status } from '../../model/status.js';
import type { StoredDefinition } from '../definitions/stored.js';

/** A slot to come as the API answers it; moments in epoch ms, `time` in the zone of the schedule. */
export type SlotAnswer = { readonly slot: number; readonly due: number; readonly time: string };

/** A schedule as the API answers it: alone with its `slots` to come, in the list with the next one. */
export type ScheduleAnswer = StoredDefinition & {
  readonly status: ScheduleStatus;
  readonly next?: SlotAnswer;
  readonly last?: SlotRecord & { readonly status?: Status };
  readonly slots?: readonly SlotAnswer[];
};

/** Address of the page of a schedule. */
export function schedulePage(id: string): string {
  return `/schedules/${encodeURIComponent(id)}`;
}
