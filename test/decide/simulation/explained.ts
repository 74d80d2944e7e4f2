import { isDeepStrictEqual } from 'node:util';
import { explain } from '../../../src/client/explain.js';
import { observe } from '../../../src/client/observer.js';
import type { Reason } from '../../../src/client/reason.js';
import type { Decided } from '../../../src/decide/intent.js';
import type { Peer, World } from '../../../src/decide/world.js';
import type { EngineDocument } from '../../../src/model/engine.js';
import { isFinal, isNew, type Job } from '../../../src/model/job.js';
import type { Structure } from '../../../src/model/tree.js';
import { pictureOf } from '../../../src/picture/picture-of.js';
import { readNodes } from '../../../src/reading/node-states.js';
import { parseDocument } from '../../../src/reading/parse.js';

/** What somebody who only looks is told of a job. */
function told(job: Job, now: number, world: World): Reason | undefined {
  const { me, peers, ...facts } = world;
  const { nonce: _nonce, seenAt: _seenAt, ...known } = facts;
  const engines = [me, ...peers].map((one) => ({ engine: engineOf(one), alive: true }));
  const seen = { job, engines, now };
  return explain(seen, observe(parseDocument(job), seen, known))[0];
}

function engineOf({ id, plugins, labels, queues }: Peer): EngineDocument {
  const facts = { plugins: [...plugins], labels: [...labels], queues: [...queues] };
  const doc = { _id: id, type: 'engine', host: 'h', pid: 1, version: '0', slots: 1 } as const;
  return { ...doc, ...facts, started: 0, beat: 1, state: 'running' };
}

/** What is told of a job is the rule by which the engine has decided. */
export function checkExplained(job: Job, decided: Decided, now: number, world: World): void {
  const first = told(job, now, world);
  if (isFinal(job)) {
    if (first?.kind !== 'ended') throw new Error(`A final job is said to be ${first?.kind}.`);
    return;
  }
  if (first?.rule !== decided.rule) {
    throw new Error(`By rule "${decided.rule}"; told: "${first?.rule}" (${first?.because}).`);
  }
  const isPaused = first.kind === 'paused' || first.kind === 'flow_paused';
  if (isPaused !== (decided.rule === 'pause')) throw new Error(`It is not ${first.kind}.`);
}

/** A picture shows the states of nodes that the reading has. */
export function checkPicture(job: Job): void {
  if (isNew(job) || job.steps === undefined || job.tasks === undefined) return;
  const tree = job.tasks as Structure;
  const nodes = readNodes(tree, { ...job, steps: job.steps });
  for (const { id, kind, path, state, runs } of pictureOf(tree, job).nodes) {
    if (kind === 'meet') continue;
    const read = nodes.get(kind === 'begin' || kind === 'end' ? `#${kind}` : path);
    if (read === undefined) {
      if (state !== 'pending' && state !== 'unreached') throw new Error(`${id} is drawn ${state}.`);
    } else if (read.state !== state || !isDeepStrictEqual(read.runs, runs)) {
      throw new Error(`${id} is ${read.state} and drawn ${state}.`);
    }
  }
}
