import { unknownWorld } from '../../src/decide/world.js';
import { readdirSync, readFileSync } from 'node:fs';
import { decide } from '../../src/decide/decide.js';
import { endInvalid } from '../../src/decide/finish/finish.js';
import { canonical } from '../../src/model/canonical.js';
import type { Answer, Found, LockAnswer } from '../../src/decide/world.js';
import { settle } from '../../src/decide/finish/settle.js';
import { evaluate } from '../../src/evaluate/expressions.js';
import { checkLockPattern } from '../../src/evaluate/patterns.js';
import { isFinal, type FinalJob, type Job } from '../../src/model/job.js';
import { parseDocument } from '../../src/reading/parse.js';
import type { StoredDocument } from '../../src/model/document.js';
import type { Flow } from '../../src/model/flow.js';
import { defaultOwner, type Task } from '../../src/model/task.js';
import { t0, world } from '../support/builders.js';

/** One file of the corpus: documents of which the job must end with exit 3, and how it says why. */
export type Malformed = {
  readonly file: string;
  readonly title: string;
  readonly documents: readonly StoredDocument[];
  readonly expect: {
    readonly failure: string;
    /** JSON path that the failure's message begins with or names; absent: it names documents only. */
    readonly path?: string;
    readonly mentions: readonly string[];
  };
  /** Ids of documents that the database's own validation refuses; they may be older than it. */
  readonly refused?: readonly string[];
};

const folder = new URL('../fixtures/malformed/', import.meta.url);

/** All files of the corpus, by name. */
export function readCorpus(): readonly Malformed[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.sort().map((file) => {
    const read = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Malformed;
    const documents = read.documents.map((doc) => ({ ...doc, _rev: '1-a' }));
    return { ...read, file, documents };
  });
}

/** Lets one engine decide until the job of these documents is final; every attempt succeeds. */
export async function endOf(documents: readonly StoredDocument[]): Promise<FinalJob> {
  const doc = documents.find(({ type }) => type === 'job') as StoredDocument;
  const parsed = parseDocument(doc);
  if (parsed.kind !== 'job') throw new Error('There is no job among the documents.');
  if (!parsed.ok) return endInvalid(doc, parsed.problems, t0);
  let job: Job = parsed.value;
  const answers: Record<string, Answer> = {};
  for (let moves = 0; !isFinal(job) && moves < 50; moves += 1) {
    const intent = decide(job, t0, worldOf(documents, answers));
    if (intent.kind === 'look_up') {
      for (const one of intent.questions) answers[one.id] = await evaluate(one);
    } else if (intent.kind === 'claim') {
      const [step] = intent.steps;
      const settled = settle(
        intent.job,
        { schema: unknownWorld.schema, claim: String(step?.claim), outcome: { kind: 'done' } },
        t0,
      );
      if (settled.kind === 'settled') job = settled.job;
    } else if (intent.kind === 'write') {
      job = intent.job;
    } else {
      throw new Error(`The job does not end: ${JSON.stringify(intent)}`);
    }
  }
  if (!isFinal(job)) throw new Error('The job does not end.');
  return job;
}

function worldOf(documents: readonly StoredDocument[], answers: Readonly<Record<string, Answer>>) {
  return world({
    plugins: ['noop'],
    answers,
    locks: locksOf(documents),
    flow: (name, owner) => foundIn('flow', documents, name, owner),
    task: (name, owner) => foundIn('task', documents, name, owner),
  });
}

/** Patterns are read as an engine reads them. */
function locksOf(documents: readonly StoredDocument[]): Readonly<Record<string, LockAnswer>> {
  const job = documents.find(({ type }) => type === 'job');
  const locks = job?.['locks'];
  const reason = typeof locks === 'string' ? checkLockPattern(locks) : undefined;
  if (reason === undefined) return {};
  return { [`lock:${canonical(['pattern', job?._id])}`]: { kind: 'invalid', reason } };
}

type Value<K extends 'flow' | 'task'> = { flow: Flow; task: Task }[K];

/** Finds definitions as the views of the database list them. */
function foundIn<K extends 'flow' | 'task'>(
  kind: K,
  documents: readonly StoredDocument[],
  name: string,
  owner: string,
): Found<Value<K>> {
  const named = documents.filter((doc) => doc['type'] === kind && doc['name'] === name);
  const ofOwner = (wanted: string): readonly StoredDocument[] =>
    named.filter(
      (doc) => (typeof doc['owner'] === 'string' ? doc['owner'] : defaultOwner) === wanted,
    );
  const own = ofOwner(owner);
  const [first, ...others] = own.length > 0 ? own : ofOwner(defaultOwner);
  if (first === undefined) return { kind: 'absent' };
  if (others.length > 0)
    return { kind: 'ambiguous', ids: [first, ...others].map(({ _id }) => _id) };
  const parsed = parseDocument(first);
  if (parsed.kind !== kind) return { kind: 'absent' };
  if (!parsed.ok) return { kind: 'invalid', id: first._id, problems: parsed.problems };
  return { kind: 'found', value: parsed.value as unknown as Value<K> };
}
