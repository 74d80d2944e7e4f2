import type { StoredDocument } from '../model/document.js';
import { isLiving } from '../model/event.js';
import { readGathering, type Gathering } from '../model/gathering.js';
import { readTriggered } from '../model/trigger.js';
import { counted, listed, momentFrom } from '../words.js';

/** Reads a document by its id. */
type Look = (id: string) => Promise<StoredDocument | undefined>;

/**
 * Returns sentences about what has become of an event, or of gathered events; undefined: the document is
 * neither. `now`: epoch ms.
 */
export async function eventReasons(
  doc: StoredDocument,
  look: Look,
  now: number,
): Promise<readonly string[] | undefined> {
  if (doc['type'] === 'gathering') return [gatheringReason(readGathering(doc), doc._id, now)];
  if (doc['type'] !== 'event') return undefined;
  const read = readTriggered(doc['triggered']);
  if (read === undefined) return ['No engine has decided yet which jobs it starts.'];
  if (read === 'unreadable') return ['Its "triggered" cannot be read, so it starts no job.'];
  const { starting = [], gathering = [], gathered = [], started = [], refused = [] } = read;
  const waits = await Promise.all(
    gathered.map(async ({ into }) => {
      const found = await look(into);
      if (found !== undefined) return gatheringReason(readGathering(found), into, now);
      return `Document ${into}, which gathered it, was removed. An engine gathers it again within a minute.`;
    }),
  );
  const told = [
    ...started.map((job) => `It has started job ${job}.`),
    ...starting.map(({ job }) => `It starts job ${job}.`),
    ...gathering.map(({ into }) => `It is about to be gathered in ${into}.`),
    ...waits,
    ...refused.map(({ flow, because }) => `It starts no job of flow ${flow}: ${because}`),
  ];
  const life = read.until === undefined ? [] : [lifeOf(read.until, now)];
  return [...(told.length > 0 ? told : [nothingFits]), ...life];
}

/** Until when an event releases waits. */
function lifeOf(until: number, now: number): string {
  const at = new Date(until).toISOString();
  return isLiving({ until }, now)
    ? `It releases steps that wait for it until ${at}.`
    : `It expired at ${at}: it releases no step, and retention removes it.`;
}

const nothingFits =
  'It starts no job: no flow had a trigger ("on") whose "event", "key" and "match" all fit it when it came.';

/** How many jobs are waited for, since when, and until when. */
function gatheringReason(gathering: Gathering | undefined, id: string, now: number): string {
  if (gathering === undefined) return `Document ${id} holds no gathered events that can be read.`;
  const { flow, owner, by, key, events, size, starting, next_due: due } = gathering;
  const of = key === undefined ? '' : ` with the key ${key}`;
  const job = `a job of flow ${flow}::${owner} (${by}${of})`;
  if (starting !== undefined && events.length === 0)
    return `${counted(starting.events.length, 'event')} of ${id} ${starting.events.length === 1 ? 'starts' : 'start'} job ${starting.job}.`;
  const when =
    due === undefined ? '' : `; due ${momentFrom(now, due)} (${new Date(due).toISOString()})`;
  const full = by === 'batch' ? `, or as soon as there are ${size}` : '';
  const ids = listed(events.map((one) => one.id));
  const verb = events.length === 1 ? 'waits' : 'wait';
  return `${counted(events.length, 'event')} (${ids}) ${verb} in ${id} for ${job}${when}${full}.`;
}
