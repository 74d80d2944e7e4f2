/** What plugin authors import: `import { PluginError } from 'tws/plugin'`. */
export type {
  HistoryEvent,
  Plugin,
  PluginOutcome,
  PluginContext,
  PluginFailure,
  PluginModule,
  RenderOptions,
  WaitOptions,
} from './api.js';
export type { JsonSchema } from '../model/scalars.js';
export { isTemporary, retryAfter } from './answers.js';
export { Detour } from './detour.js';
export { Done } from './done.js';
export { PluginError, type PluginErrorOptions } from './errors.js';
export { connectWithin, egressAgents } from './connect.js';
export type { EgressPolicy } from './egress.js';
export { fetchWithin, type FetchAnswer } from './fetch.js';
export { quoteOf, textsSent } from './quote.js';
export { requestMistake, setsHeader } from './request-mistake.js';
export { decodedText } from './text.js';
export { downloadFile, projectFile, readProjectFile } from './files.js';
export { percentDecoded } from '../model/percent.js';
export { offerOfWork, offerWork } from '../model/work.js';
export { allowsCode, requireCodeAllowed, type CodePolicy } from './code-policy.js';
export { pluginProblem } from './failures.js';
export { threadProcessorMs } from '../processor-time.js';
export { loadPackage, missingPackage } from './packages.js';
export { evaluateExpression } from './expression.js';
export { sendWebhook, webhookId, type Webhook } from './webhook.js';
