import { describe, expect, it } from 'vitest';
import { createJobHub } from '../../src/http/feed/hub.js';
import { openStream } from './events.js';
import { openApi } from './server.js';

/** What is no text, and says that it cannot become one. */
const evil = { toString: 1, valueOf: 1 };

/** Jobs that somebody wrote by hand, as nobody thought of them. */
const odd: readonly object[] = [
  { steps: [{ state: evil }] },
  { steps: [null, 7, { state: '$$active', name: 5, task: evil, path: evil, attempt: evil }] },
  {
    state: '$$complete',
    exit: 0,
    steps: [{ name: 'a', state: '$$complete', path: evil, task: evil, log: [{ message: evil }] }],
    notes: [{ text: evil, at: evil }],
    requests: [evil],
    signals: [null, evil],
  },
  { next_due: evil, exec_after: evil, failure: { message: evil, name: evil }, end: evil },
  { flow_definition: evil, definitions: { x: evil }, keys: evil, tags: [evil], parent: evil },
  { steps: [{ state: '$$waiting', until: 1e300, signal: evil, event: evil }], next_due: 1e300 },
  { state: '$$complete', exit: 1e300, start: -1e300, end: 1e300, steps: [] },
];

/** Where there is a limit, the flow of each job is asked whether it has one: here none is stored. */
const limited = {
  ...{ _id: 'task:a', type: 'task', name: 'a', owner: 'DEFAULT', plugin: 'noop' },
  concurrency: { limit: 1 },
};

const lists = [
  ...[
    '/jobs',
    '/jobs?status=running,waiting,failed',
    '/stats',
    '/engines',
    '/limits',
    '/gatherings',
  ],
  ...['/queues', '/failures', '/schedules', '/hooks', '/notify', '/flows', '/retention'],
];

describe('a job that nobody thought of', () => {
  it('is shown, explained and streamed as far as it can be, and keeps nobody from the others', async () => {
    const api = await openApi();
    await api.put(limited);
    const stream = await openStream(`${api.url}/_tws/changes`);
    await stream.next();
    await api.put(...odd.map((doc, i) => ({ _id: `odd${i}`, type: 'job', flow: 'f', ...doc })));
    await api.put({ _id: 'good', type: 'job', flow: 'f' });
    const told = new Set<unknown>();
    while (told.size <= odd.length) told.add((await stream.next())?.data['id']);
    expect(told).toContain('good');
    stream.close();
    for (const i of odd.keys()) {
      for (const path of ['', '/history', '/explain', '/info', '/results/a']) {
        const { status } = await api.ask('GET', `/jobs/odd${i}${path}`);
        expect([i, path, status < 500]).toEqual([i, path, true]);
      }
    }
    for (const path of lists) {
      expect([path, (await api.ask('GET', path)).status]).toEqual([path, 200]);
    }
    expect(api.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('the feed of all streams', () => {
  it('goes on when one that listens falls', async () => {
    const { client, put } = await openApi();
    const broken: unknown[] = [];
    const onBroken = (error: unknown) => broken.push(error);
    const hub = createJobHub({ client, lingerMs: 10, remembered: 10, onBroken });
    const heard: string[] = [];
    await hub.listen(() => {
      throw new Error('not this one');
    });
    await hub.listen((change) => heard.push(change.kind));
    await put({ _id: 'a', type: 'job', flow: 'f' }, { _id: 'b', type: 'job', flow: 'f' });
    await expect.poll(() => heard.length).toBe(2);
    expect(broken).toHaveLength(2);
    await hub.close();
  });
});
