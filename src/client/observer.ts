import { decide } from '../decide/decide.js';
import type { Decided } from '../decide/intent.js';
import type { RateRequest } from '../decide/queries.js';
import { unknownWorld, type Found, type World } from '../decide/world.js';
import type { EngineDocument } from '../model/engine.js';
import type { StoredDocument } from '../model/document.js';
import type { Flow } from '../model/flow.js';
import { defaultQueue, type Job } from '../model/job.js';
import { renderParams } from '../evaluate/expressions.js';
import { parseDocument, type Parsed } from '../reading/parse.js';
import { lockIdOf } from '../lock-id.js';
import type { Seen } from './reason.js';

/** What engines decide about a job, or why they cannot. */
export type Observed =
  | {
      readonly kind: 'decided';
      readonly job: Job;
      readonly decided: Decided;
      /** What it asked of rate limits that have no place free. */
      readonly fullRates?: readonly RateRequest[];
    }
  /** The document is no job that an engine can work with. */
  | { readonly kind: 'unreadable'; readonly because: string };

/**
 * Asks the rules of the engines about a job, as an engine that can do nothing itself: it has no plugin
 * and no slot. `facts` are what was looked up for it; for what else they need the rules ask.
 */
export function observe(parsed: Parsed, seen: Seen, facts: Partial<World> = {}): Observed {
  if (parsed.kind !== 'job') return { kind: 'unreadable', because: 'It is no job.' };
  if (!parsed.ok) {
    const because = parsed.problems.map(({ message }) => message).join('; ');
    return { kind: 'unreadable', because };
  }
  const job = parsed.value;
  try {
    return {
      kind: 'decided',
      job,
      decided: decide(job, seen.now, { ...observersWorld(seen), ...facts }),
    };
  } catch (error) {
    return { kind: 'unreadable', because: String(error) };
  }
}

const anything: ReadonlySet<string> = Object.assign(new Set<string>(), { has: () => true });

/** As if it were an engine that can run everything and has room. */
export const ableObserver: World['me'] = {
  ...unknownWorld.me,
  id: 'observer',
  plugins: anything,
  labels: anything,
  queues: anything,
  freeSlots: 1_000,
};

function observersWorld({ engines, flow, queueControl }: Seen): World {
  const alive = engines.filter((one) => one.alive).map(({ engine }) => engine);
  return {
    ...unknownWorld,
    me: { ...unknownWorld.me, id: 'observer' },
    peers: alive.filter(({ state }) => state === 'running').map(peerOf),
    lease: (engine) => (alive.some(({ _id }) => _id === engine) ? 'alive' : 'dead'),
    flow: () => foundFlow(flow),
    queueControl: () => queueControl,
    ratedQueues: queueControl?.rate === undefined ? unknownWorld.ratedQueues : anything,
    root: () => 'live',
    lockId: lockIdOf,
    render: renderParams,
  };
}

function peerOf({ _id, plugins, labels, queues = [defaultQueue] }: EngineDocument) {
  return {
    id: _id,
    plugins: new Set(plugins),
    labels: new Set(labels),
    queues: new Set(queues),
  };
}

/** The flow of the job as it is stored; it was looked for. */
function foundFlow(doc: StoredDocument | undefined): Found<Flow> {
  const parsed = doc === undefined ? undefined : parseDocument(doc);
  if (parsed?.kind !== 'flow') return { kind: 'absent' };
  return parsed.ok
    ? { kind: 'found', value: parsed.value }
    : { kind: 'invalid', id: String(doc?._id), problems: parsed.problems };
}
