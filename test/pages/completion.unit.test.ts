import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { completionAt, type Option } from '../../src/pages/editor/completion.js';
import { schemasAt } from '../../src/pages/editor/schema-at.js';
import type { JsonSchema } from '../../src/model/scalars.js';

const schemas = Object.fromEntries(
  ['flow', 'task', 'job'].map((kind) => [
    kind,
    JSON.parse(readFileSync(`couch/schemas/${kind}.json`, 'utf8')) as JsonSchema,
  ]),
) as Readonly<Record<'flow' | 'task' | 'job', JsonSchema>>;
const names = { task: ['mail', 'check'], flow: ['report'], plugin: ['noop', 'mail-smtp'] };

/** What is proposed at the `|` in a text. */
function at(marked: string, schema: JsonSchema = schemas.flow) {
  const text = marked.replace('|', '');
  const found = completionAt(text, marked.indexOf('|'), { schema, names });
  const options = found?.options ?? [];
  return {
    labels: options.map(({ label }) => label),
    options: new Map(options.map((option) => [option.label, option])),
    /** The text with an option taken; `|` is the caret. */
    taken: (label: string): string => {
      const option = options.find((one) => one.label === label) as Option;
      const { from, to } = found as { from: number; to: number };
      const { insert, caret } = option;
      return `${text.slice(0, from)}${insert.slice(0, caret)}|${insert.slice(caret)}${text.slice(to)}`;
    },
  };
}

describe('keys', () => {
  it('of a flow: those that are needed first, none that is there', () => {
    const { labels, options } = at('{"type": "flow", |}');
    expect(labels.slice(0, 3)).toEqual(['name', 'owner', 'tasks']);
    expect(labels).not.toContain('type');
    expect(options.get('name')?.detail).toBe('text, required');
    expect(options.get('timeout')?.info).toMatch(/Milliseconds/);
  });

  it.each([
    ['{|}', 'name', '{"name": "|"}'],
    ['{"na|"}', 'name', '{"name": "|"}'],
    ['{na|}', 'name', '{"name": "|"}'],
    ['{|"tasks": []}', 'params', '{"params": {|},"tasks": []}'],
    ['{"na|": 1}', 'name', '{"name"|: 1}'],
    ['{|}', 'enabled', '{"enabled": |}'],
    ['{|}', 'type', '{"type": "flow"|}'],
  ])('in %s: %s is written as %s', (text, label, after) => {
    expect(at(text).taken(label)).toBe(after);
  });

  it('of a step are those of its kind alone', () => {
    const entry = at('{"tasks": [{"task": "a", |}]}').labels;
    expect(entry).toEqual(expect.arrayContaining(['params', 'retry', 'error']));
    for (const other of ['flow', 'parallel', 'join', 'after', 'structure']) {
      expect(entry).not.toContain(other);
    }
    const parallel = at('{"tasks": [{"parallel": [], |}]}').labels;
    expect(parallel).toEqual(expect.arrayContaining(['join', 'on_fail', 'name']));
    expect(parallel).not.toContain('params');
    expect(at('{"tasks": [{"graph": {"x": {"task": "a", |}}}]}').labels).toContain('after');
    const open = at('{"tasks": [{|}]}').labels;
    expect(open).toEqual(expect.arrayContaining(['task', 'parallel', 'choice', 'wait']));
  });

  it('go as deep as the tree does', () => {
    const text =
      '{"tasks": [{"choice": [{"when": "x", "then": {"map": {"over": "y", "do": {"task": "a", |}}}}]}]}';
    expect(at(text).labels).toContain('retry');
    expect(at('{"retry": {|}}').labels).toEqual(
      expect.arrayContaining(['limit', 'delay', 'factor']),
    );
  });
});

describe('values', () => {
  it.each<readonly [string, readonly string[]]>([
    ['{"timeout_mode": |}', ['start', 'hard']],
    ['{"timeout_mode": "|"}', ['start', 'hard']],
    ['{"timeout_mode": "st|"}', ['start', 'hard']],
    ['{"enabled": |}', ['true', 'false']],
    ['{"enabled": t|}', ['true', 'false']],
    ['{"tasks": [{"parallel": [], "on_fail": |}]}', ['wait', 'cancel_rest', 'ignore']],
    ['{"tasks": [{"task": "|"}]}', ['mail', 'check']],
    ['{"tasks": [{"task": "a", "error": "|"}]}', ['mail', 'check']],
    ['{"tasks": [{"flow": "|"}]}', ['report']],
    ['{"tasks": [{"decider": "|"}]}', ['noop', 'mail-smtp']],
  ])('in %s', (text, labels) => {
    expect(at(text).labels).toEqual(labels);
  });

  it('of what handles a failure are tasks, and beginnings of entries and structures', () => {
    const { labels } = at('{"error": |}');
    expect(labels.slice(0, 3)).toEqual(['mail', 'check', '{ name }']);
    expect(labels).toContain('{ parallel }');
  });

  it('of a list of steps are names of tasks, and beginnings of the structures', () => {
    const { labels, taken } = at('{"tasks": ["a", |]}');
    expect(labels.slice(0, 2)).toEqual(['mail', 'check']);
    expect(taken('mail')).toBe('{"tasks": ["a", "mail"|]}');
    expect(taken('{ parallel }')).toBe('{"tasks": ["a", { "parallel": [|] }]}');
  });

  it('of tasks and jobs are names of plugins and flows', () => {
    expect(at('{"plugin": "|"}', schemas.task).labels).toEqual(['noop', 'mail-smtp']);
    expect(at('{"flow": "|"}', schemas.job).labels).toEqual(['report']);
  });

  it('take the place of what is written, quotes and all', () => {
    expect(at('{"timeout_mode": "st|art", "a": 1}').taken('hard')).toBe(
      '{"timeout_mode": "hard"|, "a": 1}',
    );
  });

  it('are not proposed where none may stand', () => {
    for (const text of [
      '{"name": "a"|}',
      '{"name" |}',
      '{"params": {"free": |}}',
      '{"description": |}',
    ]) {
      expect([text, at(text).labels]).toEqual([text, []]);
    }
  });
});

describe('schemas', () => {
  it('that refer to themselves without end describe nothing', () => {
    const knot = { $ref: '#/definitions/a', definitions: { a: { $ref: '#/definitions/a' } } };
    expect(schemasAt(knot, [], undefined)).toEqual([]);
    expect(completionAt('{', 1, { schema: knot, names: {} })).toBeUndefined();
  });

  it('that somebody wrote are followed, too', () => {
    const schema = {
      type: 'object',
      properties: {
        to: { $ref: '#/$defs/person' },
        size: { enum: [1, 2], description: 'How big.' },
      },
      $defs: {
        person: { allOf: [{ properties: { name: { type: 'string' } } }, { required: ['name'] }] },
      },
    };
    expect(at('{"to": {|}}', schema).taken('name')).toBe('{"to": {"name": "|"}}');
    expect(at('{"size": |}', schema).labels).toEqual(['1', '2']);
    expect(at('{"size": |}', schema).options.get('1')?.info).toBe('How big.');
  });
});
