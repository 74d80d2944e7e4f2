import { describe, expect, it } from 'vitest';
import { editionOf, otherEditions } from '../../src/pages/definitions/edition.js';
import type { StoredDefinition } from '../../src/pages/definitions/stored.js';

function stored(kind: 'flow' | 'task', content: object, rev = '2-b'): StoredDefinition {
  const { name, owner } = { name: 'f', owner: 'DEFAULT', ...content };
  const id = `${kind}:${owner}:${name}`;
  return {
    id,
    rev,
    name,
    owner,
    document: { _id: id, _rev: rev, type: kind, name, owner, ...content },
  };
}

const flow = stored('flow', { name: 'f', tasks: ['t'], timeout: 5 });
const task = stored('task', { name: 't', plugin: 'noop' });

/** A job that has begun with the flow and the task as they are stored, but for what is given. */
const job = (changes: object = {}) => ({
  ...{ _id: 'j', type: 'job', flow: 'f', owner: 'DEFAULT', flow_rev: '2-b' },
  tasks: { structure: 'sequence', sequence: [{ task: 't' }] },
  flow_definition: { type: 'flow', name: 'f', owner: 'DEFAULT', timeout: 5 },
  definitions: { t: { _rev: '2-b', type: 'task', name: 't', owner: 'DEFAULT', plugin: 'noop' } },
  ...changes,
});

const all = { flows: [flow], tasks: [task] };

describe('what a job runs, beside what is stored', () => {
  it('is the same', () => {
    expect(editionOf(job(), all)).toEqual({ changed: [], gone: [] });
  });

  it('is not known before it begins', () => {
    expect(editionOf({ _id: 'j', type: 'job', flow: 'f' }, all)).toBeUndefined();
  });

  it('is told place by place', () => {
    const flow_definition = { type: 'flow', name: 'f', owner: 'DEFAULT', timeout: 9 };
    const tasks = { structure: 'sequence', sequence: [{ task: 't' }, { task: 't' }] };
    const ran = job({ flow_rev: '1-a', flow_definition, tasks });
    expect(editionOf(ran, all)?.changed).toEqual([
      {
        definition: flow,
        changes: [
          { path: 'timeout', before: 9, after: 5 },
          {
            path: 'tasks.sequence',
            before: [{ task: 't' }, { task: 't' }],
            after: [{ task: 't' }],
          },
        ],
      },
    ]);
  });

  it('is the same in another revision that says the same, in short or written out', () => {
    expect(editionOf(job({ flow_rev: '1-a' }), all)).toEqual({ changed: [], gone: [] });
  });

  it('is compared with the definition of its owner, before the one for all', () => {
    const own = stored('task', { name: 't', owner: 'acme', plugin: 'fail' });
    const older = { t: { _rev: '1-a', type: 'task', name: 't', owner: 'acme', plugin: 'noop' } };
    const later = editionOf(job({ owner: 'acme', definitions: older }), {
      ...all,
      tasks: [task, own],
    });
    expect(later?.changed).toEqual([
      { definition: own, changes: [{ path: 'plugin', before: 'noop', after: 'fail' }] },
    ]);
  });

  it('is compared as it was written, where what is stored now is not valid', () => {
    const broken = stored('task', { name: 't', plugin: 7 }, '3-c');
    expect(editionOf(job(), { flows: [flow], tasks: [broken] })?.changed).toEqual([
      { definition: broken, changes: [{ path: 'plugin', before: 'noop', after: 7 }] },
    ]);
  });

  it('may be gone', () => {
    expect(editionOf(job(), { flows: [], tasks: [] })).toEqual({ changed: [], gone: ['f', 't'] });
  });

  it('has no flow where the job has a structure of its own', () => {
    const { flow_rev: _rev, ...own } = job();
    expect(editionOf(own, { flows: [], tasks: [task] })).toEqual({ changed: [], gone: [] });
  });

  it('leaves secrets out, and in a slice what its parent has', () => {
    const secret = stored(
      'task',
      { name: 't', plugin: 'noop', params: { pass: '[secret]' } },
      '3-c',
    );
    const params = { pass: 'tws:secret:task:DEFAULT:t:params.pass' };
    const t = { _rev: '1-a', type: 'task', name: 't', owner: 'DEFAULT', plugin: 'noop', params };
    expect(editionOf(job({ definitions: { t } }), { flows: [flow], tasks: [secret] })).toEqual({
      changed: [],
      gone: [],
    });
    const handled = stored('flow', { name: 'f', tasks: ['t'], timeout: 5, error: 't' }, '3-c');
    const of = (more: object) => editionOf(job(more), { flows: [handled], tasks: [task] })?.changed;
    expect(of({})).toHaveLength(1);
    expect(of({ slice: { path: '0' } })).toEqual([]);
  });
});

describe('live jobs with another edition of a flow', () => {
  it('are brought together by the edition; others are left out', () => {
    const own = stored('flow', { name: 'f', owner: 'acme' });
    const jobs = [
      { id: 'a', owner: 'DEFAULT', flow_rev: '1-a' },
      { id: 'b', owner: 'DEFAULT', flow_rev: '2-b' },
      { id: 'c', owner: 'bob', flow_rev: '1-a' },
      { id: 'new', owner: 'DEFAULT' },
      { id: 'd', owner: 'DEFAULT', flow_rev: '3-c' },
      { id: 'own', owner: 'acme', flow_rev: '7-d' },
    ];
    expect(otherEditions(jobs, flow, [flow, own])).toEqual([
      { rev: '1-a', jobs: ['a', 'c'] },
      { rev: '3-c', jobs: ['d'] },
    ]);
  });
});
