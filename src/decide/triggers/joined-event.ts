import { canonical } from '../../model/canonical.js';
import type { StoredDocument } from '../../model/document.js';
import { readTriggered, type Triggered } from '../../model/trigger.js';
import type { GatheredJob, Gathering } from '../../model/gathering.js';
import type { Made } from '../schedules/schedule-world.js';
import { calledBy, type StoredEvent } from './events.js';

/** Whether an event waits for a job of a gathering, which has taken it or is to. */
export function waitsIn({ triggered }: StoredEvent, gathering: string): boolean {
  const read = readTriggered(triggered);
  if (typeof read !== 'object') return false;
  const { gathering: joining = [], gathered = [] } = read;
  return [...joining, ...gathered].some(({ into }) => into === gathering);
}

/** Returns an event that has its job, or was refused one; undefined: it does not wait for it. */
export function withItsJob(
  event: StoredEvent,
  { _id, flow, owner }: Pick<Gathering, '_id' | 'flow' | 'owner'>,
  { job, made }: Pick<GatheredJob, 'job'> & { readonly made: Made },
): StoredEvent | undefined {
  if (!waitsIn(event, _id)) return undefined;
  const { gathering, gathered, started, refused, ...rest } = event.triggered as Triggered;
  const others = <T extends { readonly into: string }>(list: readonly T[] = []): readonly T[] =>
    list.filter(({ into }) => into !== _id);
  const denied =
    made.kind === 'refused' ? [{ flow: calledBy({ flow, owner }), job, because: made.reason }] : [];
  const lists = {
    gathering: others(gathering),
    gathered: others(gathered),
    started: [...(started ?? []), ...(made.kind === 'made' ? [job] : [])],
    refused: [...(refused ?? []), ...denied],
  };
  const filled = Object.entries(lists).filter(([, list]) => list.length > 0);
  return { ...event, triggered: { ...rest, ...Object.fromEntries(filled) } };
}

/**
 * Returns an event that a gathering is to take once more, since it does not have it any more; undefined: it
 * does not say that it has.
 */
export function gatheredAnew(event: StoredEvent, from: string): StoredEvent | undefined {
  const read = readTriggered(event.triggered);
  if (typeof read !== 'object') return undefined;
  const { gathering = [], gathered = [], ...rest } = read;
  const lost = gathered.filter(({ into }) => into === from);
  if (lost.length === 0) return undefined;
  const others = gathered.filter(({ into }) => into !== from);
  const triggered = {
    ...rest,
    gathering: [...gathering, ...lost],
    ...(others.length > 0 && { gathered: others }),
  };
  return { ...event, triggered };
}

/**
 * Returns one event for several leaf revisions of it, the winner first; undefined: the winner says all. What
 * one of them has done with a gathering, another one that was written at the same time may not know.
 */
export function mergedEvent(leaves: readonly StoredDocument[]): StoredDocument | undefined {
  const [winner] = leaves;
  const [first, ...others] = leaves.map(({ type, triggered }) =>
    type === 'event' ? readTriggered(triggered) : undefined,
  );
  const read = others.filter((one) => typeof one === 'object');
  if (winner === undefined || typeof first !== 'object' || read.length === 0) return undefined;
  const all = [first, ...read];
  const { gathering = [], gathered = [], started: _started, refused: _refused, ...rest } = first;
  const stages = all.map((one) => ({
    open: new Set((one.gathering ?? []).map(({ into }) => into)),
    taken: new Set((one.gathered ?? []).map(({ into }) => into)),
    // Two engines may have decided it at the same time, each with other gatherings.
    isLater: one.at === first.at || (one.started ?? one.refused) !== undefined,
  }));
  const isTaken = (into: string): boolean => stages.some(({ taken }) => taken.has(into));
  const waits = ({ into }: { readonly into: string }): boolean =>
    stages.every(({ open, taken, isLater }) => !isLater || open.has(into) || taken.has(into));
  const lists = {
    gathering: gathering.filter((one) => waits(one) && !isTaken(one.into)),
    gathered: [...gathered, ...gathering.filter(({ into }) => isTaken(into))].filter(waits),
    started: [...new Set(all.flatMap(({ started = [] }) => started))],
    refused: [
      ...new Map(all.flatMap(({ refused = [] }) => refused.map((one) => [canonical(one), one]))),
    ].map(([, one]) => one),
  };
  const filled = Object.entries(lists).filter(([, list]) => list.length > 0);
  const triggered = { ...rest, ...Object.fromEntries(filled) };
  return canonical(triggered) === canonical(first) ? undefined : { ...winner, triggered };
}
