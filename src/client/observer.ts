import { decide } from '../decide/decide.js';
import type { Decided } from '../decide/intent.js';
import type { Found, World } from '../decide/world.js';
import { usualCrashLimit, type EngineDocument } from '../model/engine.js';
import type { StoredDocument } from '../model/document.js';
import type { Flow } from '../model/flow.js';
import { defaultQueue, type Job } from '../model/job.js';
import { renderParams } from '../engine/evaluate/expressions.js';
import { parseDocument } from '../reading/parse.js';
import { lockIdOf } from '../lock-id.js';
import type { Seen } from './reason.js';

/** What engines decide about a job, or why they cannot. */
export type Observed =
  | { readonly kind: 'decided'; readonly job: Job; readonly decided: Decided }
  /** The document is no job that an engine can work with. */
  | { readonly kind: 'unreadable'; readonly because: string };

/**
 * Asks the rules of the engines about a job, as an engine that can do nothing itself: it has no plugin
 * and no slot. What is not known of the world is what engines would ask for next.
 */
export function observe(seen: Seen): Observed {
  const parsed = parseDocument(seen.job);
  if (parsed.kind !== 'job') return { kind: 'unreadable', because: 'It is no job.' };
  if (!parsed.ok) {
    const because = parsed.problems.map(({ message }) => message).join('; ');
    return { kind: 'unreadable', because };
  }
  const job = parsed.value;
  try {
    return { kind: 'decided', job, decided: decide(job, seen.now, observersWorld(seen)) };
  } catch (error) {
    return { kind: 'unreadable', because: String(error) };
  }
}

function observersWorld({ engines, flow, permits, facts }: Seen): World {
  const alive = engines.filter((one) => one.alive).map(({ engine }) => engine);
  const none = new Set<string>();
  return {
    me: {
      id: 'observer',
      pid: 0,
      plugins: none,
      labels: none,
      queues: none,
      freeSlots: 0,
      runningOf: () => 0,
      facts: () => ({ templates: [] }),
      running: none,
      stopping: none,
      unbegun: none,
      ended: none,
    },
    // It waits for nobody's turn: what an engine does at all is what counts.
    seenAt: -Infinity,
    nonce: '',
    peers: alive.filter(({ state }) => state === 'running').map(peerOf),
    lease: (engine) => (alive.some(({ _id }) => _id === engine) ? 'alive' : 'dead'),
    flow: () => foundFlow(flow),
    task: () => ({ kind: 'unknown' }),
    child: () => ({ kind: 'unknown' }),
    root: () => 'live',
    subject: () => ({ kind: 'unknown' }),
    linkOf: () => undefined,
    event: () => ({ kind: 'unknown' }),
    lockId: lockIdOf,
    lock: () => ({ kind: 'unknown' }),
    blockers: () => ({ kind: 'unknown' }),
    permit: () =>
      permits !== undefined && permits.heldBy.length >= permits.most
        ? { kind: 'full', by: permits.heldBy }
        : { kind: 'unknown' },
    answers: new Map(),
    contents: new Map(),
    render: renderParams,
    schema: () => ({ ok: true, problemsOf: () => [] }),
    retryDelayMs: 0,
    crashLimit: usualCrashLimit,
    ...facts,
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
