import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findFiles, type FoundFiles } from './files.js';
import { resolvePath, type PathBase } from './paths.js';
import { sampleFolders, shippedFolder } from '../validate/samples.js';

/** What `tws push` is asked for. */
export type PushOptions = {
  readonly paths: readonly string[];
  readonly map: boolean;
  readonly tasks: boolean;
  readonly flows: boolean;
  readonly schedules: boolean;
  readonly hooks: boolean;
  readonly jobs: boolean;
  readonly design: boolean;
  /** The tasks and flows that come with tws. */
  readonly samples: boolean;
};

/** `jobs`: job files of folders are wanted, too. */
export type FilesToPush = FoundFiles & { readonly jobs: boolean };

/** The files that paths and flags name. @throws TwsError `file_missing`, `file_unusable` */
export async function filesToPush(wanted: PushOptions, place: PathBase): Promise<FilesToPush> {
  const { paths, map, tasks, flows, schedules, hooks, jobs, samples } = wanted;
  const folders = [
    ...(map || tasks ? ['~tws/tasks'] : []),
    ...(map || flows ? ['~tws/flows'] : []),
    ...(map || schedules ? ['~tws/schedules'] : []),
    ...(map || hooks ? ['~tws/hooks'] : []),
    ...(jobs ? ['~tws/jobs'] : []),
  ];
  // A project without flows has nothing to push there; a path that was typed must exist.
  const there = folders.filter((folder) => existsSync(resolvePath(folder, place)));
  const shipped = samples ? sampleFolders.map((kind) => join(shippedFolder(), kind)) : [];
  const found = await findFiles([...paths, ...there, ...shipped], place);
  const named = paths.some((path) => basename(resolvePath(path, place)) === 'jobs');
  return { ...found, jobs: jobs || named };
}
