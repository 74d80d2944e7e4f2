import type { DefinitionKind } from '../model/document.js';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../model/object.js';
import type { Written } from './written.js';
import { packageRoot } from '../package.js';

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

/** Whether a sample of this kind and name comes with the package. */
export function isSample(kind: DefinitionKind, name: string): boolean {
  return samples().some((doc) => doc['type'] === kind && doc['name'] === name);
}

/** Folder of the samples that come with this package. */
export function shippedFolder(): string {
  return join(packageRoot(), 'couch', 'tws');
}
