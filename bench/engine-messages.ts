import type { Connection } from '../src/store/connection.js';
import type { Block } from './blocks.js';

/** What an engine process is asked; each question has one answer. */
export type Question =
  | {
      readonly ask: 'start';
      readonly connection: Connection;
      readonly slots: number;
      /** Where plugins are, beside those that are shipped. */
      readonly folder?: string | undefined;
      /** Warnings and errors are not written to stderr. */
      readonly quiet: boolean;
    }
  /** Answered with what was counted since the last `count`; with `bodies` it keeps what is sent. */
  | { readonly ask: 'count'; readonly bodies: boolean }
  /** `collect`: garbage is collected before memory is measured, which takes processor time. */
  | { readonly ask: 'usage'; readonly collect: boolean }
  /** Answered with the longest block of its event loop since it was last asked. */
  | { readonly ask: 'block' }
  | { readonly ask: 'stop' };

/** What an engine process answers; `finals` comes unasked whenever jobs came to their end. */
export type Answer =
  | { readonly answer: 'start'; readonly ms: number }
  | { readonly answer: 'count'; readonly counts: Counts }
  | { readonly answer: 'usage'; readonly usage: Usage }
  | { readonly answer: 'block'; readonly block: Block }
  | { readonly answer: 'stop' }
  | { readonly answer: 'failed'; readonly message: string }
  /** `at`: epoch ms with fractions, when the store had confirmed the last of them. */
  | { readonly answer: 'finals'; readonly count: number; readonly at: number };

/** What the writes of one engine came to. */
export type Counts = {
  /** Revisions of jobs that were stored. */
  readonly revisions: number;
  /** Writes that carried a claim, and those of them that lost. */
  readonly claims: Contest;
  /** Of these the claims of first steps: the only ones that engines compete for when nobody dies. */
  readonly firstClaims: Contest;
  readonly requests: number;
  /** How long a request was in flight, all together, ms. */
  readonly requestMs: number;
  /** The JSON of all `_bulk_docs` requests, when it was asked for. */
  readonly bodies: readonly string[];
};

export type Contest = { readonly written: number; readonly lost: number };

/** Of a process. Bytes and ms. */
export type Usage = { readonly rss: number; readonly heap: number; readonly cpuMs: number };
