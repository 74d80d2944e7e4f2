import { expect, it } from 'vitest';
import { aboutOf, callPlugin, type CallOptions } from '../../../src/engine/attempts/call-plugin.js';
import { createResultAttachments } from '../../../src/engine/attachments/contents.js';
import { createRetry } from '../../../src/engine/retry.js';
import type { LiveStep } from '../../../src/model/step.js';
import { begun } from '../../decide/story.js';
import { pluginsOf } from '../../plugin/attempt.js';

const nothing = (): void => undefined;
const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const callbacks = {
  signal: new AbortController().signal,
  ...{
    log: nothing,
    heartbeat: nothing,
    progress: nothing,
    setData: nothing,
    setStatus: nothing,
    timed: nothing,
  },
};

it('an attempt is released when the engine ends before the results that it sees are read', async () => {
  const { registry } = await pluginsOf({
    'b.mjs': `
      export const verify = ({ results }) => ({ done: { verified: results.a } });
      export default ({ results }) => ({ saw: results.a });`,
  });
  const plugin = registry.get('b');
  if (plugin === undefined) throw new Error('There is no plugin b.');
  const life = new AbortController();
  const contents = createResultAttachments({
    store: {
      attachment: () => {
        life.abort();
        return Promise.reject(new Error('The connection is gone.'));
      },
    },
    retry: createRetry({ signal: life.signal, report: nothing }),
    copies: () => 1,
    rest: async () => undefined,
    log,
  });
  const reference = { $attachment: 'result-0-1.json', bytes: 70_000 };
  const story = begun(['a', { task: 'b', retry: 1 }])
    .with({ contents: { [reference.$attachment]: 'much' } })
    .did('a', reference)
    .broke('b');
  const options: CallOptions = {
    ...{ log, contents, cwd: '/' },
    openSecrets: async () => ({ params: {}, clear: [], templates: [] }),
  };
  const attempt = { plugin, job: story.liveJob, step: story.liveAt('b') };
  const outcome = await callPlugin(attempt, callbacks, options);
  expect(outcome).toEqual({ kind: 'released' });
});

it('what is logged of an attempt names the item of a map that it is in', () => {
  const step = (path: string): LiveStep => ({ name: 'a', path, attempt: 1 }) as LiveStep;
  const job = begun(['a']).liveJob;
  const about = { job: job._id, step: 'a', attempt: 1 };
  expect(aboutOf(job, step('0'))).toEqual(about);
  expect(aboutOf(job, step('1.map.7.sequence.0'))).toEqual({ ...about, item: '1.map.7' });
});
