import { expect, it } from 'vitest';
import { reportHook } from '../../../src/engine/control/hook-reports.js';
import type { Log } from '../../../src/engine/log.js';
import type { StoredDocument } from '../../../src/model/document.js';
import type { NewDocument } from '../../../src/store/writer.js';

const doc = { _id: 'h', _rev: '1-a', type: 'hook', name: 'h', flow: 'f', check: 'none' };
const problems = [{ path: 'match', message: 'match is no valid JSONata.' }];

function written(of: StoredDocument, isReporter: boolean): readonly unknown[] {
  const writes: unknown[] = [];
  const write = (one: NewDocument) => {
    writes.push(one);
    return Promise.resolve({ kind: 'conflict' as const });
  };
  const log = { warn: () => undefined } as unknown as Log;
  reportHook({ store: { write }, log, isReporter: () => isReporter }, of);
  return writes;
}

it('one engine writes what is wrong with a hook, the others write nothing', () => {
  const malformed = { ...doc, params: '{' };
  expect(written(malformed, true)).toMatchObject([{ _id: 'h', problems: [{ path: 'params' }] }]);
  expect(written(malformed, false)).toEqual([]);
});

it('removes the problems of a hook that is right, and writes nothing when there is nothing new', () => {
  expect(written({ ...doc, problems }, true)).toEqual([doc]);
  expect(written(doc, true)).toEqual([]);
});
