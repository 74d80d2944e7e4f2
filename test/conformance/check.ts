import { test } from 'vitest';
import type { TestContext } from 'vitest';
import { couchKind } from '../support/couch.js';
import { differences } from './differences.js';

type Run = (context: TestContext) => Promise<void>;

/**
 * One statement about CouchDB, which both servers must meet. Where `differences` declares that
 * this run's server differs, `instead` states what that server does, or the check is skipped;
 * the reason stands in the title. Throws on an `instead` without a declared difference.
 */
export function check(title: string, run: Run, instead?: Run): void {
  const difference = differences[title];
  if (instead !== undefined && difference === undefined) {
    throw new Error(`differences.ts does not say why a server differs in "${title}".`);
  }
  if (difference === undefined || difference.server !== couchKind()) {
    test(title, run);
  } else if (instead === undefined) {
    test.skip(`${title} (not here: ${difference.reason})`, run);
  } else {
    test(`${title} (differs: ${difference.reason})`, instead);
  }
}
