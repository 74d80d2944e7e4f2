import { relative } from 'node:path';
import type { Config } from '../config/load.js';
import type { GoodFile } from './check-files.js';
import { fileContent } from './files.js';
import type { Io } from './io.js';
import { isInFolder, ownFolder } from './paths.js';
import { syncedFile, type SyncedBook, type SyncedEntry } from './pull/synced.js';
import type { PushStep } from './push-plan.js';

/** Remembers what a push stores, or finds stored, from the folder of the project, while it goes on. */
export type PushNotes = {
  readonly done: (step: PushStep) => Promise<void>;
  /** A document was removed. */
  readonly gone: (id: string) => void;
  /** Stores the rest. */
  readonly end: () => Promise<void>;
};

/** The record is written anew when that takes less than so much of the time. */
const share = 0.1;

/** What cannot be written is told, and is no failure. */
export function notePushed(config: Config, book: SyncedBook, io: Io): PushNotes {
  const own = ownFolder(config.root);
  let noted = new Map<string, SyncedEntry | undefined>();
  let next = 0;
  const store = async (): Promise<void> => {
    if (noted.size === 0) return;
    const began = performance.now();
    const changed = noted;
    noted = new Map();
    try {
      await book.note(changed);
    } catch (error) {
      io.warn(
        `${syncedFile} cannot be written, so \`tws pull\` will not know of this push: ${String(error)}`,
      );
    }
    const now = performance.now();
    next = now + (now - began) / share;
  };
  return {
    done: async (step) => {
      const { file, doc }: GoodFile = step.file;
      const id = step.kind === 'skip' ? step.id : step.doc._id;
      if (id === undefined || doc['type'] === 'job' || !isInFolder(own, file.path)) return;
      noted.set(id, { file: relative(config.root, file.path), content: fileContent(doc) });
      if (performance.now() >= next) await store();
    },
    gone: (id) => void noted.set(id, undefined),
    end: store,
  };
}
