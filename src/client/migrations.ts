import { parseDocument } from '../reading/parse.js';
import type { Found } from '../decide/world.js';
import { atOnce } from '../decide/versions/at-once.js';
import { migrated, type Migrated } from '../decide/versions/migrate.js';
import type { MovedPoint } from '../decide/versions/movement.js';
import type { DefinitionsKnown } from '../decide/versions/take-over.js';
import type { StoredDocument } from '../model/document.js';
import type { Flow } from '../model/flow.js';
import {
  chooseVersion,
  versionOf,
  type VersionAsk,
  type VersionChoice,
} from '../model/flow-versions.js';
import { isLiveJob, type Job } from '../model/job.js';
import { keyOf, type Task } from '../model/task.js';
import { readSchema } from '../evaluate/schemas.js';
import type { Store } from '../store/store.js';
import { roundTurn } from '../turns.js';
import { textOf } from '../words.js';
import { flowDocuments } from './definitions.js';
import { findTask } from './observe-job.js';

/**
 * Whether a job can move: `moves`; `there`: it goes by that definition already; `stays`: it cannot. `from`: what it
 * goes by now. `because`: a sentence, where it does not move.
 */
export type Migration = {
  readonly id: string;
  readonly flow: string;
  readonly can: 'moves' | 'there' | 'stays';
  readonly from: MovedPoint;
  readonly to?: MovedPoint;
  readonly because?: string;
  /** Where it moves: what ends or begins at once, in sentences. */
  readonly effects?: readonly string[];
};

/** The part of the client for moving jobs to other versions of their flows. */
export type Migrations = {
  /**
   * Which of these jobs could move now to a version of their flows; without `to` to the flow as it is stored. Nothing
   * is changed: `request(job, 'migrate', {to})` moves one.
   */
  readonly migrations: (
    jobs: readonly StoredDocument[],
    to: string | undefined,
  ) => Promise<readonly Migration[]>;
};

/** The part of the client for moving jobs. */
export function migrationsWith(store: Store, now: () => number = Date.now): Migrations {
  return {
    migrations: async (jobs, to) => {
      const known = knownDefinitions(store);
      const all: Migration[] = [];
      for (const job of jobs) {
        await roundTurn();
        all.push(await migrationOf(job, to, { known, now: now() }));
      }
      return all;
    },
  };
}

async function migrationOf(
  doc: StoredDocument,
  to: string | undefined,
  { known, now }: { readonly known: StoredDefinitions; readonly now: number },
): Promise<Migration> {
  const version = versionOf({ version: doc['flow_version'] });
  const from = {
    ...(version === undefined ? {} : { version }),
    ...(typeof doc['flow_rev'] === 'string' ? { rev: doc['flow_rev'] } : {}),
  };
  const about = { id: doc._id, flow: textOf(doc['flow'] ?? ''), from };
  const parsed = parseDocument(doc);
  if (parsed.kind !== 'job') {
    return { ...about, can: 'stays', because: `Document ${doc._id} is no job.` };
  }
  if (!parsed.ok) {
    const because = `Job ${doc._id} cannot be read: ${parsed.problems[0].message}`;
    return { ...about, can: 'stays', because };
  }
  for (;;) {
    const found: Migrated = migrated(parsed.value, to, known.definitions);
    if (found.kind === 'look_up') await known.find(found);
    else if (found.kind === 'moves') {
      const effects = effectsOf(parsed.value, found.job, now);
      return { ...about, can: 'moves', to: found.moved.to, ...effects };
    } else return { ...about, can: found.kind, because: found.because };
  }
}

function effectsOf(before: Job, after: Job, now: number): Pick<Migration, 'effects'> {
  if (!isLiveJob(before) || !isLiveJob(after)) return {};
  const effects = atOnce(before, after, now);
  return effects.length === 0 ? {} : { effects };
}

type StoredDefinitions = {
  readonly definitions: DefinitionsKnown;
  readonly find: (query: Extract<Migrated, { kind: 'look_up' }>) => Promise<void>;
};

/** The definitions as they are stored, each read once. */
function knownDefinitions(store: Store): StoredDefinitions {
  const flows = new Map<string, (ask?: VersionAsk) => Found<Flow>>();
  const tasks = new Map<string, Found<Task>>();
  return {
    definitions: {
      flow: (name, owner, ask) => flows.get(keyOf(name, owner))?.(ask) ?? { kind: 'unknown' },
      task: (name, owner) => tasks.get(keyOf(name, owner)) ?? { kind: 'unknown' },
      schema: readSchema,
    },
    find: async (query) => {
      for (const { name, owner } of query.flows) {
        const docs = await flowDocuments(store, { name, owner });
        flows.set(keyOf(name, owner), (ask) => foundIn(chooseVersion(docs, ask)));
      }
      for (const { name, owner } of query.tasks) {
        tasks.set(keyOf(name, owner), await findTask(store, name, owner));
      }
    },
  };
}

function foundIn(choice: VersionChoice<StoredDocument>): Found<Flow> {
  switch (choice.kind) {
    case 'none':
      return { kind: 'absent' };
    case 'absent':
      return choice;
    case 'ambiguous':
      return { kind: 'ambiguous', ids: choice.docs.map(({ _id }) => _id), cause: choice.cause };
    case 'chosen': {
      const parsed = parseDocument(choice.doc);
      if (parsed.kind !== 'flow') return { kind: 'absent' };
      return parsed.ok
        ? { kind: 'found', value: parsed.value }
        : { kind: 'invalid', id: choice.doc._id, problems: parsed.problems };
    }
  }
}
