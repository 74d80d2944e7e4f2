import { isTooHeavy } from '../../evaluate/patterns.js';
import { finder } from '../../reading/definition-lookup.js';
import type { StoredDocument } from '../../model/document.js';
import { patternOf } from '../../model/target.js';
import type { PluginRegistry } from '../../plugin/loader.js';
import { counted, listed } from '../../words.js';
import { checkDocument } from '../../validate/document.js';
import { checkReferences, type Definitions } from '../../validate/references.js';
import {
  excessTagsInFlow,
  excessTagsInNotify,
  excessTagsInTask,
  excessTagsInTexts,
} from '../../validate/tags.js';
import type { FileProblem } from '../../validate/written.js';
import type { DoctorFinding } from './finding.js';

/** Maximum number of problems that are named. */
const mostNamed = 10;

type Plugins = Pick<PluginRegistry, 'get'>;

/** What `tws push` would refuse or warn of in stored tasks and flows: their jobs fail. */
export async function definitionFindings(
  documents: readonly StoredDocument[],
  plugins: Plugins,
): Promise<readonly DoctorFinding[]> {
  const stored = documents.map((doc) => ({ file: doc._id, doc }));
  const own = stored.flatMap(({ file, doc }) => checkDocument(file, doc));
  const isBad = new Set(own.map(({ file }) => file));
  const valid = stored.filter(({ file }) => !isBad.has(file));
  const { problems, definitions } = await checkReferences(valid, () => Promise.resolve([]));
  const found = [
    ...findings('fail', [...own, ...problems]),
    ...findings('warn', excessTags(definitions, plugins)),
  ];
  if (found.length > 0) return found;
  const says = `${counted(documents.length, 'task or flow', 'tasks and flows')}, nothing wrong with them`;
  return [{ what: 'definitions', verdict: 'ok', says }];
}

function excessTags({ tasks, flows }: Definitions, plugins: Plugins): readonly FileProblem[] {
  const find = finder(tasks);
  return [
    ...tasks.flatMap((task) => called(task, excessTagsInTask(task, plugins))),
    ...flows.flatMap((flow) => {
      const findTask = (name: string) => find(name, flow.owner);
      return called(flow, [
        ...excessTagsInFlow(flow, findTask, plugins),
        ...excessTagsInTexts(flow),
        ...excessTagsInNotify(flow.notify, findTask, plugins),
      ]);
    }),
  ];
}

function called(
  { _id }: { readonly _id: string },
  notes: readonly Omit<FileProblem, 'file'>[],
): readonly FileProblem[] {
  return notes.map((note) => ({ file: _id, ...note }));
}

/** Locks of jobs that have begun and whose pattern no engine judges any more. */
export function checkLocks(jobs: readonly StoredDocument[]): readonly DoctorFinding[] {
  const heavy = jobs.filter(({ state, locks }) => {
    const pattern = patternOf(locks);
    return state !== undefined && pattern !== undefined && isTooHeavy(pattern.text);
  });
  if (heavy.length === 0) return [];
  const ids = listed(heavy.map(({ _id }) => _id));
  return [
    {
      what: 'locks',
      verdict: 'warn',
      says: `${counted(heavy.length, 'job holds a lock', 'jobs hold locks')} whose pattern no engine evaluates any more, because it repeats its parts too often (${ids}); every other job with a target waits until ${heavy.length === 1 ? 'it ends' : 'they end'}.`,
      todo: 'Let them end or cancel them, and submit new ones with "*" or "+" or smaller counts.',
    },
  ];
}

/** Problems by document, the first ones in full. */
function findings(
  verdict: 'warn' | 'fail',
  problems: readonly FileProblem[],
): readonly DoctorFinding[] {
  const named = problems.slice(0, mostNamed).map(({ file, path, message }): DoctorFinding => ({
    what: `document ${file}`,
    verdict,
    says: message.startsWith(path) ? message : `${path}: ${message}`,
    todo: 'Correct it, check it with `tws validate` and store it again, for example with `tws push`.',
  }));
  const more = problems.length - named.length;
  if (more === 0) return named;
  const says = `${counted(more, 'more problem')} in stored tasks and flows`;
  return [...named, { what: 'definitions', verdict, says }];
}
