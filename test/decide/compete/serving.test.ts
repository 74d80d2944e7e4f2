import { describe, expect, it } from 'vitest';
import { isServed, isUnserved, needsOf, servesHere } from '../../../src/decide/compete/serving.js';
import { peer, task, world } from '../../support/builders.js';

describe('servesHere', () => {
  // Shows C-10.
  it.each([
    ['takes a task whose plugin bears its name', task('a'), true],
    ['takes a task whose plugin it has', task('x', { plugin: 'a' }), true],
    ['leaves a task whose plugin it has not', task('a', { plugin: 'x' }), false],
    ['takes a task whose labels it carries', task('a', { labels: ['gpu'] }), true],
    ['leaves a task of which it lacks one label', task('a', { labels: ['gpu', 'eu'] }), false],
  ])('%s', (_title, definition, served) => {
    const here = world({ plugins: ['a'], labels: ['gpu', 'ssd'] });
    expect(servesHere(definition, here)).toBe(served);
    expect(isServed(definition, here)).toBe(false);
  });
});

describe('isUnserved', () => {
  it.each([
    ['nobody has the plugin', task('z'), true],
    ['this engine has the plugin', task('a'), false],
    ['another engine has the plugin', task('b'), false],
    ['the one has the plugin and the other the label', task('b', { labels: ['gpu'] }), true],
    ['the task is a flow', task('z', { flow: 'inner' }), false],
  ])('knows when %s', (_title, definition, unserved) => {
    const around = world({
      plugins: ['a'],
      labels: ['gpu'],
      peers: [peer(['b']), peer([], ['gpu'])],
    });
    expect(isUnserved(definition, around)).toBe(unserved);
  });
});

describe('needsOf', () => {
  it.each([
    [task('a'), 'plugin "a"'],
    [task('a', { plugin: 'http', labels: ['gpu'] }), 'plugin "http" and the label gpu'],
    [task('a', { labels: ['gpu', 'eu'] }), 'plugin "a" and the labels gpu, eu'],
  ])('names what %j needs', (definition, needs) => {
    expect(needsOf(definition, world())).toBe(needs);
  });
});
