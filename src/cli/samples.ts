import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../model/object.js';
import { contentHash, type Written } from './files.js';
import { shippedFolder } from './paths.js';

/** Kinds of samples that are definitions; the jobs are orders for `tws submit`. */
export const sampleFolders = ['tasks', 'flows'] as const;

/** The tasks and flows that come with this package. */
export function samples(): readonly Written[] {
  return sampleFolders.flatMap((kind) => {
    const folder = join(shippedFolder(), kind);
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
    return names
      .map((name): unknown => JSON.parse(readFileSync(join(folder, name), 'utf8')))
      .filter(isObject);
  });
}

/** Hashes of their contents, by which stored documents are recognised as samples. */
export function shippedHashes(): ReadonlySet<string> {
  return new Set(samples().map(contentHash));
}

/** Whether a sample of this kind and name comes with the package. */
export function isSample(kind: 'task' | 'flow', name: string): boolean {
  return samples().some((doc) => doc['type'] === kind && doc['name'] === name);
}
