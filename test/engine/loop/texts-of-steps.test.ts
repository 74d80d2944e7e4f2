import { describe, expect, it } from 'vitest';
import { flow, job, task } from '../../support/documents.js';
import { openWorkspace } from '../../support/workspace.js';

const many = '- {{job._id}} '.repeat(201);
const partial = '{{#*inline "a"}}{{/inline}}{{> a}}';
const open = 'from {{job._id';

describe('a template of a step that cannot be filled in', () => {
  it.each<readonly [string, object, string]>([
    ['the delay has too many tags', { delay: many }, 'delay'],
    ['the delay is no template', { delay: open }, 'delay'],
    ['the key of an event has too many tags', { wait: { event: 'e', key: many } }, 'wait.key'],
    ['the key of an event uses partials', { wait: { event: 'e', key: partial } }, 'wait.key'],
    ['the name of a signal has too many tags', { wait: { signal: many } }, 'wait.signal'],
  ])('ends the job with exit 3 and its name: %s', async (_title, step, name) => {
    const space = await openWorkspace();
    await space.put(flow('f', [step], { retry: 3 }), job('f', { _id: 'j' }));
    await space.engine();
    const ended = await space.ended('j');
    expect(ended).toMatchObject({ exit: 3, failure: { name: 'TemplateError' } });
    expect(ended.failure?.message).toContain(`The template in ${name} cannot be filled in`);
    expect(ended.steps).toHaveLength(1);
  });

  it.each<readonly [string, object]>([
    ['a task', { task: 'tell', params: { text: many } }],
    ['a webhook', { url: `http://127.0.0.1:9/{{job._id}}`, body: { text: many } }],
  ])('of a notification ends that with exit 3: %s', async (_title, entry) => {
    const space = await openWorkspace({ 'tell.mjs': 'export default () => 1;' });
    await space.put(task('tell'), flow('f', ['tell'], { notify: [entry] }), job('f', { _id: 'j' }));
    await space.engine();
    expect(await space.ended('j')).toMatchObject({ exit: 0 });
    const ended = await space.ended('j:notify:1:0');
    expect(ended).toMatchObject({ exit: 3, failure: { name: 'TemplateError' } });
  });
});
