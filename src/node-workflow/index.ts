/** What imported plugins use: `import { fromNodeWorkflow } from 'tws/node-workflow'`. */
export {
  fallbackFromNodeWorkflow,
  fromNodeWorkflow,
  info,
  type WorkflowBody,
  type WorkflowCallback,
  type WorkflowFallback,
} from './adapter.js';
export { functionOf, type FunctionPlace } from './collect.js';
export type { WorkflowJob } from './job.js';
export type { JobLogger } from './logger.js';
