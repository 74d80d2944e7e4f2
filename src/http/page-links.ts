/** The manifest that the build of the pages leaves behind, as far as it matters here. */
export type Manifest = Readonly<Record<string, Chunk>>;

type Chunk = {
  readonly file: string;
  readonly name?: string;
  readonly imports?: readonly string[];
};

/** The module of each page by the first parts of its path; `*` stands for any word. */
const modules: readonly (readonly [path: string, module: string])[] = [
  ['', 'overview/overview.tsx'],
  ['jobs', 'jobs/jobs.tsx'],
  ['jobs/*', 'job/job.tsx'],
  ['flows', 'definitions/flows.tsx'],
  ['flows/*', 'definitions/flow.tsx'],
  ['tasks', 'definitions/tasks.tsx'],
  ['tasks/*', 'definitions/task.tsx'],
  ['schedules', 'schedules/schedules.tsx'],
  ['schedules/*', 'schedules/schedule.tsx'],
  ['hooks', 'hooks/hooks.tsx'],
  ['hooks/*', 'hooks/hook.tsx'],
  ['notify', 'notify/lists.tsx'],
  ['notify/*', 'notify/list.tsx'],
  ['submit/*', 'form/submit.tsx'],
  ['archive', 'archive/archive.tsx'],
  ['archive/*', 'archive/archived-job.tsx'],
  ['engines', 'engines/engines.tsx'],
];

/** What the list of jobs asks for first. */
const firstJobs = '/_tws/jobs?limit=100';

/**
 * The header `link` of a page: the browser loads its scripts, and the first jobs of the list, beside the
 * one that would ask for them. `path`: below the admin pages, with its query; undefined: there is nothing.
 */
export function linksOf(manifest: Manifest, base: string, path: string): string | undefined {
  const [words = '', query] = path.split('?');
  const kind = words
    .replace(/\/+$/, '')
    .split('/')
    .map((word, i) => (i === 0 ? word : '*'))
    .join('/');
  const module = modules.find(([at]) => at === kind)?.[1];
  if (module === undefined) return undefined;
  const scripts = [...filesOf(manifest, module)].map(
    (file) => `<${base}/${file}>; rel=modulepreload`,
  );
  const isList = kind === 'jobs' && (query ?? '') === '';
  const data = isList ? [`<${firstJobs}>; rel=preload; as=fetch; crossorigin`] : [];
  return [...scripts, ...data].join(', ') || undefined;
}

/** A page that others import, too, has no entry of its own. */
function chunkNamed(manifest: Manifest, module: string): Chunk | undefined {
  const name = /([^/]+)\.tsx$/.exec(module)?.[1];
  return Object.values(manifest).find((chunk) => name !== undefined && chunk.name === name);
}

/** The files of a module and of all that it imports. */
function filesOf(manifest: Manifest, name: string, found = new Set<string>()): Set<string> {
  const chunk = manifest[name] ?? chunkNamed(manifest, name);
  if (chunk === undefined || found.has(chunk.file)) return found;
  found.add(chunk.file);
  for (const one of chunk.imports ?? []) filesOf(manifest, one, found);
  return found;
}
