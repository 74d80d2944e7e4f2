/** What a design document's functions are run as. */
export type ProgramKind = 'map' | 'reduce' | 'validate' | 'filter' | 'view_filter';

/**
 * Functions that are compiled into one sandbox and stay there. A map program holds all map
 * functions of a design document, so that each document crosses the border once.
 */
export type Program = {
  /** Names the compiled sandbox: same key, same sources. */
  readonly key: string;
  readonly kind: ProgramKind;
  readonly sources: readonly string[];
  /** The design document as JSON, for `require`; absent when no source asks for it. */
  readonly modules?: string;
};

/**
 * The outcome of one call: JSON, or what the function threw. The JSON is
 * map: rows of each function, `[[key, value], …]` · reduce: the value ·
 * validate: null or `{forbidden}` or `{unauthorized}` · filters: a boolean.
 */
export type CallResult =
  { readonly ok: string } | { readonly threw: { readonly name: string; readonly message: string } };

/** Why a program cannot go on; nothing of it is run again until its document changes. */
export type ProgramFailure = {
  readonly kind: 'compile' | 'timeout' | 'memory' | 'crash';
  readonly message: string;
};

/** The results of the calls that ended, in order; fewer than asked for when the program failed. */
export type RunResult = {
  readonly results: readonly CallResult[];
  readonly failure?: ProgramFailure;
};

/** A request to a worker. `select` tests documents against a Mango selector (regular expressions can hang). */
export type WorkerTask =
  | { readonly type: 'run'; readonly program: Program; readonly calls: readonly string[] }
  | { readonly type: 'select'; readonly selector: string; readonly docs: readonly string[] };

export type WorkerRequest = { readonly job: number; readonly task: WorkerTask };
export type WorkerAnswer = { readonly job: number; readonly result: RunResult };

export type WorkerSettings = {
  /** Time one call may take, ms. */
  readonly deadlineMs: number;
  /** Memory one program may hold, bytes. */
  readonly memoryBytes: number;
  /** Counts calls begun: whoever watches sees that the worker still gets on. */
  readonly progress: Int32Array;
};
