/** What the CLI and the HTTP API use of the client that brings the rules of the engines along. */
export { nextSlots } from './client/schedules.js';
export { summaryOf } from './client/summary.js';
export { problemOfAnswer } from './client/signal-answers.js';
export { warningsOfSignal } from './client/messages.js';
export { explainChain } from './client/explain-job.js';
export { eventReasons } from './client/event-reasons.js';
export { countInHand } from './client/service.js';
export { leasedSteps, workIn } from './client/work.js';
export {
  moveDatabase,
  moveBack,
  type MoveOptions,
  type MoveStage,
  type MoveResult,
} from './client/move/move.js';
export { readAll, type BackedUp } from './client/backup/read.js';
export {
  claimForRestore,
  finishRestore,
  holdEngines,
  isOfSource,
  verifyRestored,
  writeRestored,
  writeRevisions,
  type Expected,
} from './client/backup/write.js';
