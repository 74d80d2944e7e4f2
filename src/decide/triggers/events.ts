import type { StoredDocument } from '../../model/document.js';
import type { EventDocument } from '../../model/event.js';
import type { StartCause } from '../../model/trigger.js';

/** An event as it is stored. */
export type StoredEvent = EventDocument & StoredDocument;

/** A JSONata expression of a trigger, with the data that it is evaluated over. */
export type TriggerQuestion = {
  readonly id: string;
  readonly expression: string;
  readonly context: Readonly<Record<string, unknown>>;
};

/** The job that a trigger starts, as it is submitted. */
export type TriggeredJob = {
  readonly _id: string;
  readonly type: 'job';
  readonly flow: string;
  readonly owner?: string;
  readonly started_by: StartCause;
  readonly [key: string]: unknown;
};

/** Returns what expressions see of an event. */
export function seenOf({ _id, event, key, data }: StoredEvent): Readonly<Record<string, unknown>> {
  return { id: _id, type: event, key: key ?? '', data };
}

/** Returns how a flow is called in what an event says. */
export function calledBy({ flow, owner }: Called): string {
  return `${flow}::${owner}`;
}

/** A flow by its name and owner. */
export type Called = { readonly flow: string; readonly owner: string };
