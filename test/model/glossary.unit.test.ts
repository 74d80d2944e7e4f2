import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cataloguedSchema } from '../../src/model/catalogue.js';
import { failureNames } from '../../src/model/failures.js';
import { flowSchema, liveJobSchema, newJobSchema } from '../../src/reading/documents.js';
import { finalJobSchema, sliceSchema } from '../../src/model/job.js';
import { notifyEntrySchema } from '../../src/model/notify.js';
import { endedStatuses } from '../../src/model/retain.js';
import { retryPolicySchema } from '../../src/model/retry.js';
import { statuses } from '../../src/model/status.js';
import { exits, phases, stepSchema, stepStates } from '../../src/model/step.js';
import { triggerKeys } from '../../src/model/trigger.js';
import { taskSchema } from '../../src/model/task.js';
import { ofStructures } from '../../src/structures/node-keys.js';
import { entryForms } from '../../src/structures/schema.js';

const glossary = readFileSync(new URL('../../src/model/README.md', import.meta.url), 'utf8');

/** The first cells of all tables under a heading, without the heads of the tables. */
function rowsUnder(heading: string): readonly string[] {
  const [, section = ''] = glossary.split(new RegExp(`^#+ ${heading}$`, 'm'));
  const [body = ''] = section.split(/^#+ /m);
  const lines = body.split('\n').filter((line) => line.startsWith('|'));
  return lines
    .filter((_line, i) => !isHead(lines, i))
    .map((line) => String(line.split('|')[1]).trim().replaceAll('`', ''));
}

function isHead(lines: readonly string[], i: number): boolean {
  const isRule = (line = ''): boolean => /^\|\s*-/.test(line);
  return isRule(lines[i]) || isRule(lines[i + 1]);
}

const keysOf = (schema: { readonly shape: object }): readonly string[] => Object.keys(schema.shape);
/** Keys that stand in no entry that names a task: they make another kind of node. */
const shared = [
  ...['structure', 'sequence', 'parallel', 'batch', 'graph', 'choice', 'map', 'loop'],
  ...['wait', 'approve', 'delay', 'flow', 'decider', 'finish', 'try'],
  ...Object.keys(ofStructures),
];

describe('the glossary', () => {
  it.each<[heading: string, words: readonly string[]]>([
    ['Fields of a task', keysOf(taskSchema)],
    ['Fields of a flow', keysOf(flowSchema)],
    ['Fields of an entry', keysOf(entryForms.task).filter((key) => !shared.includes(key))],
    ['Fields of an entry of `notify`', keysOf(notifyEntrySchema)],
    ['Fields of an entry of the error catalogue', keysOf(cataloguedSchema)],
    ['Fields of `retain`', [...endedStatuses, 'age', 'count']],
    ['Fields of an entry of `on`', triggerKeys],
    ['Fields of a retry policy', keysOf(retryPolicySchema)],
    ['Fields of a job', [newJobSchema, liveJobSchema, finalJobSchema].flatMap(keysOf)],
    ['Fields of a slice', keysOf(sliceSchema)],
    ['Fields of an attempt', stepSchema.options.flatMap(keysOf)],
    [
      'States of a job',
      ['absent', '$$ready', '{task}-{n}', '$$paused', '$$complete', '$$cancelled'],
    ],
    ['States of an attempt', stepStates],
    ['Phases', phases],
    ['Exits', Object.values(exits).map(String)],
    ['Statuses', statuses],
    ['Failures', failureNames],
  ])('has exactly the words there are under "%s"', (heading, words) => {
    expect([...rowsUnder(heading)].sort()).toEqual([...new Set(words)].sort());
  });

  it('has every word once', () => {
    const words = ['Definitions', 'Jobs', 'Schedules', 'Engines'].flatMap(rowsUnder);
    expect(words.length).toBeGreaterThan(50);
    expect(new Set(words).size).toBe(words.length);
  });
});
