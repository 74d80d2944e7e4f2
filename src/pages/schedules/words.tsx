import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import type { ScheduleStatus, SlotRecord } from '../../model/schedule.js';
import type { Status } from '../../model/status.js';
import { momentFrom } from '../../words.js';
import { now } from '../live/clock.js';
import { StatusWord } from '../parts/status.js';
import { exact } from '../parts/time.js';
import { slotText } from './when.js';

const tones: Readonly<Record<ScheduleStatus, string>> = {
  ...{ new: 'queued', active: 'succeeded', paused: 'paused' },
  ...{ ended: 'cancelled', invalid: 'failed' },
};

/** How a schedule stands: a word, in its colour. */
export function ScheduleWord({ status }: { readonly status: ScheduleStatus }) {
  return <span class={`status ${tones[status]}`}>{status}</span>;
}

const recordTones: Readonly<Record<SlotRecord['kind'], string>> = {
  ...{ started: 'queued', skipped: 'waiting', missed: 'failed' },
  ...{ refused: 'failed', backfilled: 'scheduled' },
};

type RecordWordProps = Pick<SlotRecord, 'kind'> & { readonly status: Status | undefined };

/** What happened to a slot, or the status of its job where that is known: a word, in its colour. */
export function RecordWord({ kind, status }: RecordWordProps) {
  if (status !== undefined) return <StatusWord status={status} />;
  return <span class={`status ${recordTones[kind]}`}>{kind}</span>;
}

type SlotTimeProps = {
  readonly slot: number;
  /** The time zone in which it is told; undefined: that of whoever looks. */
  readonly zone: string | undefined;
  /** Says how far away it is, and its date on hover, instead of the date. */
  readonly isRelative?: boolean;
};

/** The time of a slot: its date, or how far away it is; the other on hover, with the exact time here. */
export function SlotTime({ slot, zone, isRelative = false }: SlotTimeProps) {
  const at = new Date(slot);
  if (Number.isNaN(at.getTime())) return <span class="muted">{String(slot)}</span>;
  const distance = momentFrom(now.value, slot);
  const text = slotText(slot, zone);
  const here = `${exact(slot)} here`;
  return (
    <time
      dateTime={at.toISOString()}
      title={isRelative ? `${text} ${zone ?? ''} (${here})` : `${distance} (${here})`}
    >
      {isRelative ? distance : text}
    </time>
  );
}

type SlotJobLinkProps = { readonly id: string; readonly children?: ComponentChildren };

/** A link to a job of a schedule; without a text of its own it says the id. */
export function SlotJobLink({ id, children = id }: SlotJobLinkProps) {
  return <Link href={`/jobs/${encodeURIComponent(id)}`}>{children}</Link>;
}
