/** The public API of the package `tws`: engines and clients for programs of your own. */
export { createClient, type Client } from './client.js';
export { loadConfig, type Config } from './config/load.js';
export { TwsError, type ProblemCode } from './errors.js';
export { startEngine, type Engine, type EngineOptions } from './engine/engine.js';
export { type EngineListener } from './engine/events/system-events.js';
export { type SystemWebhook } from './engine/events/system-webhooks.js';
export { engineEventTypes, type EngineEvent, type EngineEventType } from './model/engine-event.js';
export { statusOf } from './reading/status.js';
export { type Status } from './model/status.js';
export { loadPlugins, type PluginRegistry } from './plugin/loader.js';
export { openStore, type Store } from './store/store.js';
