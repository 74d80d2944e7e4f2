import type { FeedState } from '../client.js';
import { lengthOf } from '../words.js';
import type { Io } from './io.js';

/** Keeps in mind whether the database answers, and tells once when that changes. */
export type Absence = {
  readonly take: (state: Pick<FeedState, 'kind'> & { readonly cause?: string }) => void;
  /** Whether the database answers no more at the moment. */
  readonly now: () => boolean;
  readonly gaveUp: () => boolean;
  readonly end: () => void;
};

export type AbsenceOptions = {
  /** Name of the database in sentences. */
  readonly database: string;
  /** A line about something wrong. */
  readonly warn: (line: string) => void;
  /** After so long without any answer it is given up, ms; absent: never. */
  readonly giveUpMs?: number;
  readonly onGiveUp?: () => void;
};

/** Begins with a database that answers. */
export function createAbsence(options: AbsenceOptions, { style }: Pick<Io, 'style'>): Absence {
  const { database, warn, giveUpMs, onGiveUp } = options;
  let away = false;
  let timer: NodeJS.Timeout | undefined;
  let given = false;
  return {
    now: () => away,
    gaveUp: () => given,
    end: () => clearTimeout(timer),
    take: ({ kind, cause = 'no answer' }) => {
      if (kind === 'lost' && !away) {
        away = true;
        const limit = giveUpMs === undefined ? '' : ` for ${lengthOf(giveUpMs)}`;
        const text = `Database ${database}${reasonOf(cause)}; trying again${limit}.`;
        warn(style('yellow', text, 'stderr'));
        if (giveUpMs === undefined) return;
        timer = setTimeout(() => {
          given = true;
          onGiveUp?.();
        }, giveUpMs);
      } else if (kind === 'following' && away) {
        away = false;
        clearTimeout(timer);
        warn(`Database ${database} answers again.`);
      }
    },
  };
}

/** The store's own sentence says more than that there is no answer: where, and why. */
function reasonOf(cause: string): string {
  const [, where, why] = /^CouchDB( at \S+) does not answer \((.*)\)\.?$/.exec(cause) ?? [];
  return why === undefined || where === undefined
    ? ` does not answer (${cause.replace(/\.$/, '')})`
    : `${where} does not answer (${why})`;
}
