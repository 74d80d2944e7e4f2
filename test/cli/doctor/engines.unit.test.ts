import { describe, expect, it } from 'vitest';
import { enginesFinding } from '../../../src/cli/doctor/engines.js';
import type { EngineFacts } from '../../../src/cli/lines.js';
import type { StoredDocument } from '../../../src/model/document.js';

const one = (state: EngineFacts['state'], alive = true) => ({ state, alive }) as EngineFacts;
const control = (fields: Readonly<Record<string, unknown>>): StoredDocument => ({
  ...{ _id: 'engine-control:*', _rev: '1-a', type: 'engine-control', engine: '*' },
  ...fields,
});
const off = { enabled: false };

describe('what tws doctor says of engines', () => {
  it.each([
    [[one('running')], undefined, 'ok', '1 running; 2 jobs not ended', undefined],
    [
      [one('running'), one('disabled')],
      control({ enabled: true }),
      'ok',
      /^2 running, 1 of them disabled;/,
      undefined,
    ],
    [
      [one('disabled'), one('running', false)],
      undefined,
      'warn',
      /^1 running, 1 of them disabled, 1 without a sign of life;/,
      /tws enable ENGINE/,
    ],
    [[], undefined, 'warn', /^0 running/, /tws start/],
    [
      [one('running')],
      control(off),
      'warn',
      /^All engines are disabled: none begins a step in this database\. Found: 1 running;/,
      /^Let them work with `tws enable '\*'`\.$/,
    ],
    [
      [],
      control({ ...off, restored: 'then', reason: 'Restored from a backup of then.' }),
      'warn',
      /in this database\. Restored from a backup of then\. Found: 0/,
      /once nothing works on the original/,
    ],
    [
      [],
      control({ ...off, moving: null, reason: 'The database moves to x.' }),
      'warn',
      /The database moves to x\./,
      /tws move --undo/,
    ],
  ] as const)('%j with %j: %s', (engines, wanted, verdict, says, todo) => {
    const found = enginesFinding(engines, wanted, 2);
    expect(found.verdict).toBe(verdict);
    expect(found.says).toMatch(says);
    if (todo === undefined) expect(found.todo).toBeUndefined();
    else expect(found.todo).toMatch(todo);
  });
});
