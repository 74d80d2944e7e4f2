/** Something that happened to an engine, a definition or a job document; `at`: epoch ms. */
export type EngineEvent = { readonly at: number; readonly engine: string } & (
  | { readonly type: 'engine.started'; readonly host: string; readonly pid: number }
  /** In order, or by itself: then `reason` says why. */
  | { readonly type: 'engine.stopped'; readonly reason?: string }
  /** `lost` gave no sign of life for the length of its lease; `engine` is the one that reports it. */
  | { readonly type: 'engine.lost'; readonly lost: string }
  | { readonly type: 'database.lost'; readonly database: string; readonly cause: string }
  /** `other`: it is another database of that name: it was removed and made anew. */
  | { readonly type: 'database.back'; readonly database: string; readonly other?: true }
  /** The design document was changed, or removed (`rev` absent). */
  | { readonly type: 'design.changed'; readonly id: string; readonly rev?: string }
  /** A task or flow was stored that cannot be read. */
  | {
      readonly type: 'definition.malformed';
      readonly id: string;
      readonly kind: string;
      readonly problems: readonly DataProblem[];
    }
  /** A job was ended that could not be read. */
  | {
      readonly type: 'job.malformed';
      readonly job: string;
      readonly problems: readonly DataProblem[];
    }
);

type DataProblem = { readonly path: string; readonly message: string };

export type EngineEventType = EngineEvent['type'];

/** All types of events, in the order in which they are documented. */
export const engineEventTypes = [
  'engine.started',
  'engine.stopped',
  'engine.lost',
  'database.lost',
  'database.back',
  'design.changed',
  'definition.malformed',
  'job.malformed',
] as const satisfies readonly EngineEventType[];
