import { describe, expect, it } from 'vitest';
import { watchJob } from '../../src/client/watch.js';
import { problem } from '../../src/errors.js';
import { isFinalState } from '../../src/model/job.js';
import type { FeedState } from '../../src/store/feed.js';
import type { Store } from '../../src/store/store.js';
import { flow, job, task } from '../support/documents.js';
import { openWorkspace, type Workspace } from '../support/workspace.js';

/** The store of a workspace, which does not answer for once when it is asked where the job went on. */
function interrupted({ store }: Workspace): Store {
  let times = 0;
  return {
    ...store,
    get: async (id) => {
      const doc = await store.get(id);
      if (id !== 'next' || (times += 1) > 1) return doc;
      throw problem('couch_unreachable', { url: 'http://here', cause: 'connection refused' });
    },
  };
}

async function continued(): Promise<Workspace> {
  const space = await openWorkspace({ 'a.mjs': 'export default () => 1;' });
  await space.put(
    task('a'),
    flow('f', ['a']),
    job('f', { _id: 'last' }),
    job('f', { _id: 'next' }),
  );
  await space.engine();
  const { _rev, ...next } = await space.ended('next');
  const doc = await space.ended('last');
  await space.store.write({ ...doc, continued_to: 'next' });
  await space.store.write({ ...next, _rev, continued_from: 'last', continued_start: doc['start'] });
  return space;
}

describe('the watch of a job that has gone on as another one', () => {
  it('waits for a database that does not answer when the first has ended', async () => {
    const space = await continued();
    const states: FeedState['kind'][] = [];
    const onState = ({ kind }: FeedState): void => void states.push(kind);
    const ended = await watchJob(interrupted(space), 'last', { onState });
    expect(ended?._id).toBe('next');
    expect(isFinalState(ended?.['state'])).toBe(true);
    expect(states).toEqual(['lost', 'following']);
  });

  it('waits for it, too, where nobody is told of the outage', async () => {
    const space = await continued();
    const ended = await watchJob(interrupted(space), 'last');
    expect(ended?._id).toBe('next');
  });

  it('ends with its signal while the database does not answer', async () => {
    const space = await continued();
    const end = new AbortController();
    const onState = (): void => end.abort();
    const watched = watchJob(interrupted(space), 'last', { onState, signal: end.signal });
    expect(await watched).toBeUndefined();
  });
});
