import type { PluginContext } from './api.js';
import type { DetourOutcome } from '../model/detour-outcome.js';
import type { PluginErrorOptions } from './errors.js';
import type { LateTemplate, SensitiveTexts } from './sensitive.js';

/** One call in a thread or a process of its own: which plugin, which of its functions, with what. */
export type IsolateCall = {
  readonly name: string;
  readonly file: string;
  readonly part: 'default' | 'verify';
  readonly given: Pick<
    PluginContext,
    | 'params'
    | 'job'
    | 'step'
    | 'results'
    | 'key'
    | 'cwd'
    | 'egress'
    | 'code'
    | 'lastDetails'
    | 'history'
    | 'failure'
  >;
  /** What `context.render` fills templates with. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Templates that read sensitive values. */
  readonly late: readonly LateTemplate[];
};

export type ToIsolate =
  | { readonly type: 'call'; readonly call: IsolateCall }
  | { readonly type: 'abort'; readonly name: string; readonly message: string }
  | AnswerMessage;

/** What an isolated call asks for: sensitive values. */
export type AskMessage = {
  readonly type: 'ask';
  readonly id: number;
  readonly names: readonly string[];
};

/** The answer to the question with this id. `failed`: there is none. */
export type AnswerMessage = {
  readonly type: 'answer';
  readonly id: number;
  readonly values: SensitiveTexts;
  readonly failed?: Pick<FailedMessage, 'message' | 'details'>;
};

/** What the plugin says on the way. */
export type NoteMessage =
  | { readonly type: 'log'; readonly message: string; readonly data?: Record<string, unknown> }
  | { readonly type: 'heartbeat'; readonly details: unknown }
  | { readonly type: 'progress'; readonly progress: number | string }
  | { readonly type: 'status'; readonly status: string | null }
  | {
      readonly type: 'data';
      readonly changes: Readonly<Record<string, unknown>>;
      /** Stored however the attempt ends. */
      readonly always?: boolean;
    }
  | { readonly type: 'exit'; readonly code: number }
  /** A text that nothing may show from now on. */
  | { readonly type: 'hide'; readonly text: string };

/** How the call ended. `left`: something of it goes on there, so that no other call may be made. */
export type FinalMessage = (
  | { readonly type: 'detour'; readonly outcome: DetourOutcome }
  /** `complete`: it said so itself. */
  | { readonly type: 'done'; readonly result: unknown; readonly complete: boolean }
  | FailedMessage
) & { readonly left?: boolean };

export type FromIsolate = NoteMessage | FinalMessage | AskMessage;

/** A failure, as the other side makes an error of it again. */
export type FailedMessage = {
  readonly type: 'failed';
  readonly message: string;
  readonly details: FailureDetails;
};

/** What a failure tells beside its message, and where it was made. */
type FailureDetails = PluginErrorOptions & { readonly at?: string };
