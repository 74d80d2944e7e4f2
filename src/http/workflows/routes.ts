import type { Route } from '../route.js';
import { jobsOfWorkflows } from './jobs.js';
import { systemOfWorkflows } from './system.js';
import { definitionsOfWorkflows } from './workflows.js';

/** The routes of node-workflow, which are served where the settings say so. */
export const workflowRoutes: readonly Route[] = [
  ...definitionsOfWorkflows,
  ...jobsOfWorkflows,
  ...systemOfWorkflows,
];
