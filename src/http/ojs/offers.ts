import type { Api } from '../api.js';

/** What is done without an engine depends on who is told of ends. */
export function offerOptions({ now, notify }: Api) {
  return { now: now(), notifies: notify !== undefined && notify.length > 0 };
}
