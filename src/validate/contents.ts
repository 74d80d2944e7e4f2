import { readSchema } from '../evaluate/schemas.js';
import { finder, flowFinder, type Find, type FindFlow } from '../reading/definition-lookup.js';
import { isObject } from '../model/object.js';
import { toKeyedParams } from '../reading/dialects.js';
import type { Schedule } from '../model/schedule.js';
import { parseDocument } from '../reading/parse.js';
import type { Flow } from '../model/flow.js';
import type { Unique } from '../model/unique.js';
import { defaultOwner, ownerOf, type Task } from '../model/task.js';
import type { PluginRegistry } from '../plugin/loader.js';
import type { FileProblem, Written } from './written.js';
import { unfitByKey, unfitInFlow, unfitInTask } from './plugin-params.js';
import type { CheckedDocument, Definitions } from './references.js';
import { lostResults } from './results.js';
import { unknownRoots } from './roots.js';
import { unreadParams } from './stray-params.js';
import {
  excessTagsInFlow,
  excessTagsInNotify,
  excessTagsInTask,
  excessTagsInTexts,
} from './tags.js';
import { looseStates } from './unique-states.js';
import { asWritten } from './written-path.js';

type Note = Omit<FileProblem, 'file'>;

/** What the checks of contents look things up in. */
type Known = {
  readonly definitions: Definitions;
  readonly plugins: Pick<PluginRegistry, 'get'>;
};

/**
 * What is allowed in a valid document and yet hardly meant: results of steps that are not there,
 * parameters that their plugin will not take.
 */
export function checkContents(
  documents: readonly CheckedDocument[],
  known: Known,
): readonly FileProblem[] {
  const { definitions, plugins } = known;
  const world = { task: finder(definitions.tasks), flow: flowFinder(definitions.flows), plugins };
  return documents.flatMap(({ file, doc }) =>
    notesOf(doc, world).map((note) => ({ file, ...asWritten(note, doc) })),
  );
}

type World = Pick<Known, 'plugins'> & { readonly task: Find<Task>; readonly flow: FindFlow };

function notesOf(doc: Written, world: World): readonly Note[] {
  const parsed = parseDocument({ ...doc, _id: 'new', _rev: '0-0' });
  const { task, plugins } = world;
  switch (parsed.kind) {
    case 'task':
      if (!parsed.ok) return [];
      return [...unfitInTask(parsed.value, plugins), ...excessTagsInTask(parsed.value, plugins)];
    case 'flow': {
      if (!parsed.ok) return [];
      const flow = parsed.value;
      const find = (name: string) => task(name, flow.owner);
      const texts = [...unknownRoots(doc), ...lostResults(doc, flow.tasks), ...looseStates(doc)];
      const excess = [
        ...excessTagsInFlow(flow, find, plugins),
        ...excessTagsInTexts(flow),
        ...excessTagsInNotify(flow.notify, find, plugins),
      ];
      return [...texts, ...unfitInFlow(flow, find, plugins), ...excess];
    }
    case 'job': {
      const owner = typeof doc['owner'] === 'string' ? doc['owner'] : defaultOwner;
      const flow = parsed.ok ? flowOf(parsed.value as AnyJob, owner, world) : undefined;
      const find = (name: string) => task(name, owner);
      const notified = [...looseStates(doc), ...excessTagsInNotify(doc['notify'], find, plugins)];
      if (flow === undefined) return notified;
      const { params } = doc as { readonly params?: Record<string, unknown> };
      const texts = [...unknownRoots(doc), ...lostResults(doc, flow.tasks)];
      const unfit = [...unfitByKey(params, flow, find, plugins), ...unfitForFlow(params, flow)];
      const excess = excessTagsInFlow(flow, find, plugins, toKeyedParams(params ?? {}, flow.tasks));
      const { tasks, unique } = doc as AnyJob;
      const keyed = unique === undefined ? flow : { ...flow, unique };
      // The paths of another document's steps are no places in this one.
      const moved = excess.map((note) =>
        tasks === undefined ? { ...note, path: 'params' } : note,
      );
      const own = [...moved, ...(tasks === undefined ? [] : excessTagsInTexts(flow)), ...notified];
      return [...texts, ...unfit, ...own, ...unreadParams(params, keyed, find)];
    }
    case 'schedule':
      return parsed.ok ? notesOf(jobOf(parsed.value), world) : [];
    case 'notify': {
      const owner = ownerOf(doc);
      return excessTagsInNotify(doc['notify'], (name) => task(name, owner), plugins);
    }
    case 'hook':
    case 'queue-control':
    case 'request':
    case 'signal':
    case 'event':
    case 'engine':
    case 'lock':
    case 'other':
      return [];
  }
}

/** A job of a schedule, as far as its definitions matter. */
function jobOf({ flow, owner, params, flow_version: version }: Schedule): Written {
  return {
    ...{ type: 'job', flow },
    ...(version === undefined ? {} : { flow_version: version }),
    ...(owner === undefined ? {} : { owner }),
    ...(params === undefined ? {} : { params }),
  };
}

/** What the engine will say of the job's parameters when it begins. */
function unfitForFlow(params: Record<string, unknown> = {}, flow: Flow): readonly Note[] {
  const { schema, params: own = {}, tasks, name } = flow;
  const read = schema === undefined ? undefined : readSchema(schema);
  if (read?.ok !== true) return [];
  const declared = isObject(schema?.['properties']) ? schema['properties'] : {};
  const defaults = Object.entries(own).filter(([key]) => Object.hasOwn(declared, key));
  const given = { ...Object.fromEntries(defaults), ...toKeyedParams(params, tasks) };
  return read.problemsOf(given).map(({ path, message }) => ({
    path,
    message: `${message.replace(/\.$/, '')}: so the "schema" of flow "${name}" wants it.`,
  }));
}

type AnyJob = {
  readonly tasks?: unknown;
  readonly flow?: unknown;
  readonly flow_version?: string;
  readonly unique?: Unique;
};

/** The flow that a job runs: its own structure, or the flow that it names. */
function flowOf(job: AnyJob, owner: string, { flow }: Pick<World, 'flow'>): Flow | undefined {
  if (job.tasks !== undefined) {
    const tasks = job.tasks as Flow['tasks'];
    return { type: 'flow', name: typeof job.flow === 'string' ? job.flow : '', owner, tasks };
  }
  return typeof job.flow === 'string' ? flow(job.flow, owner, job.flow_version) : undefined;
}
