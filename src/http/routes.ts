import {
  deadLetterRoute,
  deadLettersRoute,
  removeDeadRoute,
  retryDeadRoute,
} from './ojs/routes/dead-letter.js';
import {
  activateRoute,
  cancelRoute,
  enqueueManyRoute,
  enqueueRoute,
  ojsInfoRoute,
} from './ojs/routes/jobs.js';
import { cronRoute, cronsRoute, makeCronRoute, removeCronRoute } from './ojs/routes/cron.js';
import { ojsEventsRoute } from './ojs/routes/events.js';
import { queuesRoute, queueStatsRoute, queueSwitchRoutes } from './ojs/routes/queues.js';
import { healthRoute, manifestRoute } from './ojs/routes/system.js';
import { cancelWorkflowRoute, makeWorkflowRoute, workflowRoute } from './ojs/routes/workflows.js';
import { ackRoute, fetchRoute, nackRoute } from './ojs/routes/workers.js';
import { heartbeatRoute } from './ojs/routes/heartbeat.js';
import type { Route } from './route.js';
import { archiveRoutes } from './routes/archive.js';
import { bulkRoutes } from './routes/bulk-requests.js';
import { changesRoute } from './routes/changes.js';
import { definitionRoutes, switchRoutes } from './routes/definitions.js';
import {
  explainRoute,
  getRoute,
  historyRoute,
  infoRoute,
  removeJobRoute,
  resultRoute,
} from './routes/job.js';
import { checkJobRoute, listRoute, submitRoute } from './routes/jobs.js';
import { checkMigrationsRoute, migrateRoute, migrateManyRoute } from './routes/migrations.js';
import { metricsRoutes } from './routes/metrics.js';
import {
  engineSwitchRoutes,
  enginesRoute,
  eventsRoute,
  failuresRoute,
  liveRoute,
  pingRoute,
  readyRoute,
  statsRoute,
} from './routes/operation.js';
import { docsRoute, openApiRoute, styleRoute } from './routes/reference.js';
import { requestRoutes, signalRoute } from './routes/requests.js';
import { scheduleChangeRoutes, runScheduleRoute } from './routes/schedule-changes.js';
import { linkAnswerRoute, linkRoute } from './routes/answer-link.js';
import { answerRoute, formsRoute, inboxRoute } from './routes/forms.js';
import { flowVersionRoutes } from './routes/flow-versions.js';
import { gatheringsRoute } from './routes/gatherings.js';
import { limitsRoute } from './routes/limits.js';
import { queueRoutes } from './routes/queues.js';
import { deliverRoute } from './routes/hook-delivery.js';
import { hookRoutes } from './routes/hooks.js';
import { notifyListRoutes } from './routes/notify-lists.js';
import { sensitiveRoutes } from './routes/sensitive.js';
import { scheduleRoutes } from './routes/schedules.js';
import { signInRoute, signOutRoute, whoRoute } from './routes/session.js';
import { tokenRoutes } from './routes/tokens.js';

/** Everything the API offers, in the order of its reference. */
export const routes: readonly Route[] = [
  submitRoute,
  listRoute,
  checkJobRoute,
  changesRoute,
  getRoute,
  removeJobRoute,
  historyRoute,
  explainRoute,
  resultRoute,
  infoRoute,
  ...requestRoutes,
  signalRoute,
  inboxRoute,
  formsRoute,
  answerRoute,
  linkRoute,
  linkAnswerRoute,
  ...bulkRoutes,
  migrateRoute,
  migrateManyRoute,
  checkMigrationsRoute,
  eventsRoute,
  ...definitionRoutes,
  ...switchRoutes,
  ...flowVersionRoutes,
  ...scheduleRoutes,
  ...scheduleChangeRoutes,
  runScheduleRoute,
  ...hookRoutes,
  ...notifyListRoutes,
  deliverRoute,
  ...sensitiveRoutes,
  enginesRoute,
  ...engineSwitchRoutes,
  ...queueRoutes,
  limitsRoute,
  gatheringsRoute,
  ...archiveRoutes,
  statsRoute,
  failuresRoute,
  ...metricsRoutes,
  pingRoute,
  liveRoute,
  readyRoute,
  signInRoute,
  whoRoute,
  signOutRoute,
  ...tokenRoutes,
  manifestRoute,
  healthRoute,
  enqueueRoute,
  enqueueManyRoute,
  ojsInfoRoute,
  makeWorkflowRoute,
  workflowRoute,
  cancelWorkflowRoute,
  makeCronRoute,
  cronsRoute,
  cronRoute,
  removeCronRoute,
  ojsEventsRoute,
  cancelRoute,
  activateRoute,
  fetchRoute,
  ackRoute,
  nackRoute,
  heartbeatRoute,
  queuesRoute,
  queueStatsRoute,
  ...queueSwitchRoutes,
  deadLettersRoute,
  deadLetterRoute,
  retryDeadRoute,
  removeDeadRoute,
  openApiRoute,
  docsRoute,
  styleRoute,
];
