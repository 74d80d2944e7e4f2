/**
 * The admin pages, for the server and the pages themselves: the path below their address, the module that
 * shows the page, and, when it stands in the menu, its title and its key.
 */
export const pageTable = [
  { path: '/', module: 'overview/overview.tsx', title: 'Overview', key: '1' },
  { path: '/jobs', module: 'jobs/jobs.tsx', title: 'Jobs', key: '2' },
  { path: '/jobs/:id', module: 'job/job.tsx' },
  { path: '/flows', module: 'definitions/flows.tsx', title: 'Flows', key: '3' },
  { path: '/flows/:name', module: 'definitions/flow.tsx' },
  { path: '/tasks', module: 'definitions/tasks.tsx', title: 'Tasks', key: '4' },
  { path: '/tasks/:name', module: 'definitions/task.tsx' },
  { path: '/submit/:flow', module: 'form/submit.tsx' },
  { path: '/engines', module: 'engines/engines.tsx', title: 'Engines', key: '5' },
] as const;

export type AdminPage = (typeof pageTable)[number];

/** The pages of the menu, in its order. */
export const menu = pageTable.filter((page) => 'title' in page);
