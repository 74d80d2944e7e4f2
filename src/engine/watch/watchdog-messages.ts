import type { Connection } from '../../store/connection.js';

/** How often the event loop says that it goes on, ms. */
export const beatMs = 100;

/** Name of the global function that returns on whose behalf the main thread runs. */
export const attributionFunction = '__twsAttribution';

/** What the watchdog starts with. */
export type WatchdogData = {
  /**
   * 0: counts up as long as the event loop goes on. 1: whether a debugger may be attached to the main
   * thread, which then stands still for as long as somebody looks at a breakpoint.
   */
  readonly beats: Int32Array;
  /** The job about which the main thread decides, as `blocking.ts` writes it. */
  readonly notice: SharedArrayBuffer;
  /** The calls of plugins in the main thread, as `blocking.ts` keeps them. */
  readonly calls: SharedArrayBuffer;
  readonly connection: Connection;
  readonly leaseMs: number;
  readonly isTerminal: boolean;
  readonly name?: string | undefined;
};

/** Whose code runs: an attribution that can be sent to another thread. */
export type AttributedCall = {
  readonly plugin: string;
  readonly file: string;
  readonly about: { readonly job?: string; readonly step?: string; readonly attempt?: number };
  /** When the time of the attempt is over, epoch ms; undefined when nothing limits it. */
  readonly endsAt?: number | undefined;
};

/** Whose lease is given up when the process has to be ended. */
export type ToWatchdog = { readonly engine: string };
