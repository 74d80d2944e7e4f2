/** What tests import: `import { createTestEngine, createTestContext } from 'tws/testing'`. */
export {
  createTestContext,
  runTestAttempt,
  type TestAttempt,
  type TestContext,
  type TestRecord,
} from '../plugin/testing.js';
export type { PluginContext, PluginModule, PluginOutcome } from '../plugin/api.js';
export type { HistoryEvent } from '../model/history-event.js';
export {
  createTestEngine,
  type TestDocument,
  type TestEngine,
  type TestEngineOptions,
} from './test-engine.js';
export type { ExpectedJob, TestedJob, TestedStep } from './expectations.js';
export type { TestStoreKind } from './stores.js';
export type {
  MockedAttempt,
  StandIn,
  StandInFunction,
  StandInTools,
  TestCall,
} from './stand-ins.js';
