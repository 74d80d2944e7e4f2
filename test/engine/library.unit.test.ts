import { expect, it } from 'vitest';
import { createLibrary } from '../../src/engine/library.js';
import type { StoredDocument } from '../../src/model/parse.js';
import type { Store } from '../../src/store/store.js';

const task = (rev: string, plugin: string): StoredDocument => ({
  _id: 'task:DEFAULT:a',
  _rev: rev,
  type: 'task',
  name: 'a',
  plugin,
});

/** A store whose view of tasks holds one document. */
function storeWith(doc: StoredDocument): Store {
  const view = (name: string) =>
    Promise.resolve(name === 'tasks' ? [{ id: doc._id, key: 'a::DEFAULT', value: '', doc }] : []);
  return { view } as unknown as Store;
}

it('a library keeps what the feed brought while it read an older version', async () => {
  const library = createLibrary(storeWith(task('1-x', 'old')));
  const loading = library.load();
  library.update('task:DEFAULT:a', task('2-x', 'new'));
  await loading;
  expect(library.task('a', 'DEFAULT')).toMatchObject({ kind: 'found', value: { plugin: 'new' } });
});

it('a library takes a newer version that the feed has not brought', async () => {
  const library = createLibrary(storeWith(task('2-x', 'new')));
  library.update('task:DEFAULT:a', task('1-x', 'old'));
  await library.load();
  expect(library.task('a', 'DEFAULT')).toMatchObject({ kind: 'found', value: { plugin: 'new' } });
});

it('a library that looked for two tasks, one after the other, knows of both', async () => {
  const library = createLibrary(storeWith(task('1-x', 'p')));
  await library.find('task', [{ name: 'a', owner: 'me' }]);
  await library.find('task', [{ name: 'b', owner: 'me' }]);
  expect(library.task('a', 'me')).toMatchObject({ kind: 'found' });
  expect(library.task('b', 'me')).toEqual({ kind: 'absent' });
});
