import { z } from 'zod';
import { nameOf, askedVersionSchema } from '../model/scalars.js';
import type { EntryKind } from './entry-kind.js';

/** A flow that runs as a job of its own. */
export const flow: EntryKind = {
  shape: {
    flow: nameOf('flow').describe('Flow that runs as a job of its own; this one waits for it.'),
    version: z.exactOptional(askedVersionSchema),
  },
  calledBy: 'value',
  notes: ({ flow: named, version }) => [
    `runs flow ${String(named)}${version === undefined ? '' : ` (version ${version})`}`,
  ],
  task: ({ task: called, flow: named, version }) => ({
    ...{ type: 'task', name: called, flow: String(named) },
    ...(version === undefined ? {} : { flow_version: version }),
  }),
};
