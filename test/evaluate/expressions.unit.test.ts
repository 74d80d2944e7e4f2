import { describe, expect, it } from 'vitest';
import {
  checkExpression,
  checkTemplate,
  evaluate,
  renderParams,
} from '../../src/evaluate/expressions.js';
import { readTemplate } from '../../src/plugin/render.js';

const context = {
  job: { _id: 'j1', params: { who: 'Ann' } },
  step: { name: 's' },
  params: { n: 3 },
  results: {
    a: { list: [1, 2], 'odd-name': true, zero: 0, none: null },
    'b c': 1,
    'v 1.2 x': ['a', 'b'],
  },
  parent_results: { 0: 'first' },
};

describe('a template in a parameter', () => {
  it.each([
    ['a text without a template stays', 'plain', 'plain'],
    ['a text is filled in', 'Dear {{job.params.who}}!', 'Dear Ann!'],
    ['nothing is escaped', '{{job.params.who}} & <b>', 'Ann & <b>'],
    ['a sole path keeps a list', '{{results.a.list}}', [1, 2]],
    ['a sole path keeps a number', '{{ params.n }}', 3],
    ['a sole path keeps 0', '{{results.a.zero}}', 0],
    ['a sole path keeps null', '{{results.a.none}}', null],
    ['a sole path may have segments in brackets', '{{results.[b c]}}', 1],
    ['a sole path may have a dash', '{{results.a.odd-name}}', true],
    ['a position is a path', '{{parent_results.0}}', 'first'],
    ['a position in a text', 'the {{parent_results.0}} one', 'the first one'],
    ['blocks work', '{{#each results.a.list}}<{{this}}>{{/each}}', '<1><2>'],
    [
      'a name in brackets may have a point and a number',
      '{{results.[v 1.2 x]}}, {{results.[v 1.2 x].0}}',
      'a,b, a',
    ],
    ['a text in a template stays as it is', '{{json "a.1 "}}', '"a.1 "'],
    ['double brackets become double braces', 'Hi [[name]]', 'Hi {{name}}'],
    ['both in one text', '{{job._id}} [[name]]', 'j1 {{name}}'],
    ['a list of lists in text is no label', '[[1,2],[3]]', '[[1,2],[3]]'],
  ])('%s', (_title, text, expected) => {
    expect(renderParams({ deep: [{ text }] }, context, [])).toEqual({
      ok: true,
      value: { deep: [{ text: expected }] },
    });
  });

  it.each([
    ['a missing sole path', '{{results.x}}', 'there is no "results.x"'],
    ['a missing path in a text', 'a {{results.x.y}}', 'there is no "y"'],
    ['a missing position', 'a {{parent_results.7}}', 'there is no "7"'],
    ['no way to the prototype', '{{results.constructor}}', 'there is no "results.constructor"'],
    ['a template that cannot be read', '{{#if}', 'Parse error'],
  ])('names its place and reason: %s', (_title, text, reason) => {
    const rendered = renderParams({ deep: { list: [text] } }, context, []);
    expect(rendered).toMatchObject({ ok: false, at: 'deep.list[0]' });
    expect(rendered.ok ? '' : rendered.reason).toContain(reason);
  });

  it('is left to the plugin where the plugin asked for it', () => {
    const params = { html: '<b>{{data.x}}</b> [[y]]', to: '{{job.params.who}}' };
    expect(renderParams(params, context, ['html'])).toEqual({
      ok: true,
      value: { html: '<b>{{data.x}}</b> {{y}}', to: 'Ann' },
    });
  });
});

describe('a condition', () => {
  const ask = (expression: string) => evaluate({ id: 'q', expression, context });

  it.each([
    ['results.a.zero = 0', true],
    ['params.n > 5', false],
    ['results.nothing', undefined],
    ['results.a.list[$ > 1]', 2],
  ])('%s gives %j', async (expression, value) => {
    expect(await ask(expression)).toEqual({ ok: true, value });
  });

  it('that cannot be read tells why', async () => {
    expect(await ask('a +')).toMatchObject({ ok: false });
    expect(checkExpression('a +')).toEqual(expect.any(String));
    expect(checkExpression('a + 1')).toBeUndefined();
  });

  it('that never ends is stopped', async () => {
    const answer = await ask('($f := function($x) { $f($x + 1) }; $f(1))');
    expect(answer).toMatchObject({ ok: false });
  });

  it.each([
    ['$match("ababb", /a(b+)/).groups', ['b', 'bb']],
    ['$split("a,b;c", /[,;]/)', ['a', 'b', 'c']],
    ['$replace("265USD", /([0-9]+)usd/i, "$1")', '265'],
    ['$contains("\u00e91", /\u00e9\\d/)', true],
    ['$contains("abc", /x*/)', true],
    ['$match("abc", /(x)?b/).groups', [null]],
    [`$contains("${'a'.repeat(5_000)}", /(a+)+b/)`, false],
  ])(
    'with a regular expression, %s, gives %j in a time that its text bounds',
    async (text, value) => {
      expect(await ask(text)).toEqual({ ok: true, value });
    },
  );

  it.each([
    ['$contains("ab", /a(?=b)/)', /no regular expression of RE2/],
    ['$pad("x", 500000000)', /fills up to 1000000 characters/],
    ['$count([1..9999999])', /maximum sequence length/],
    ['$distinct([1..6000].{"a": $})', /compares 5000 values at most/],
    [
      '$sort([1, "a"])',
      /must be an array of values that are all numbers or all strings|D3070|sort/,
    ],
  ])('%s is refused', async (text, reason) => {
    const answer = await ask(text);
    expect(answer).toEqual({ ok: false, reason: expect.stringMatching(reason) as string });
  });

  it.each([
    ['$sort([3, 10, 2])', [2, 3, 10]],
    ['$sort(["b", "a", "B"])', ['B', 'a', 'b']],
    ['$sort([{"n": 2}, {"n": 1}], function($a, $b) { $a.n > $b.n }).n', [1, 2]],
    ['$sort(results.nothing)', undefined],
    ['$count($sort($reverse([1..200000])))', 200_000],
    ['$distinct([1, "1", 1, true, null, null])', [1, '1', true, null]],
    ['$distinct([{"a": 1}, {"a": 1}, 2, 2])', [{ a: 1 }, 2]],
    ['$distinct(7)', 7],
    ['$count($distinct([1..200000]))', 200_000],
  ])('%s gives %j', async (expression, value) => {
    expect(await ask(expression)).toEqual({ ok: true, value });
  });

  it('pads texts as JSONata does', async () => {
    const text = '[$pad("foo", 5), $pad("foo", -5, "#"), $pad("foo", 6.7, "ab"), $pad("é", 2, "")]';
    expect(await ask(text)).toEqual({ ok: true, value: ['foo  ', '##foo', 'fooaba', 'é '] });
    expect(await ask('$pad(results.nothing, 3)')).toEqual({ ok: true, value: undefined });
    expect(await ask('("foo").$pad(4)')).toEqual({ ok: true, value: 'foo ' });
  });
});

/** How often a timer of this thread fires while something goes on. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 10);
  await work;
  clearInterval(timer);
  return turns;
}

describe('what a document makes long', () => {
  it.each([
    ['a loop without end', '($f := function($n) { $f($n + 1) }; $f(1))', {}],
    ['a list of lists', '[1..3000].([1..3000].($ * 2))', {}],
    ['a product of predicates', 'a[$$.a[$$.a[$ = 0]]]', { a: Array.from({ length: 500 }, Number) }],
  ])('is evaluated elsewhere and ended: %s', async (_title, expression, context) => {
    const work = evaluate({ expression, context } as never);
    expect(await turnsDuring(work)).toBeGreaterThan(2);
    expect(await work).toMatchObject({ ok: false });
  });

  it('is a path through a long list: evaluated elsewhere, with the same result', async () => {
    const context = { a: Array.from({ length: 5_000 }, (_, b) => ({ b })) };
    const answer = await evaluate({ expression: 'a.b', context } as never);
    expect(answer).toEqual({ ok: true, value: context.a.map(({ b }) => b) });
  });

  it.each([
    ['tags', 'x{{job.a}}'.repeat(201), 'there are more than 200 tags'],
    [
      'iterations',
      '{{#each job.list}}{{#each ../job.list}}x{{/each}}{{/each}}',
      'its loops run more than 20000 times',
    ],
    ['output', '{{job.long}}{{job.long}}{{job.long}}', 'it becomes longer than 4194304 characters'],
    ['copies of the job', '{{json job}}'.repeat(200), 'it becomes longer than 4194304 characters'],
    ['lists', 'x{{job.lists}}'.repeat(200), 'it becomes longer than 4194304 characters'],
    ['partials', doubling(50), 'are not known here'],
  ])('is a template of too many %s', (_title, text, reason) => {
    const list = Array.from({ length: 200 }, Number);
    const lists = Array.from({ length: 20_000 }, () => [1234]);
    const job = { a: 1, list, lists, long: 'x'.repeat(2_000_000) };
    const rendered = renderParams({ text }, { job } as never, []);
    expect(rendered).toMatchObject({ ok: false, at: 'text' });
    expect(JSON.stringify(rendered)).toContain(reason);
  });

  it('is many templates of few tags each', () => {
    const list = Array.from({ length: 10_000 }, (_, i) => `${i} {{job.a}}`);
    const rendered = renderParams({ list }, { job: { a: 1 } } as never, []);
    expect(rendered).toMatchObject({ ok: false, at: 'list[200]' });
    const paths = Array.from({ length: 10_000 }, () => '{{job.a}}');
    expect(renderParams({ paths }, { job: { a: 1 } } as never, [])).toMatchObject({ ok: true });
  });
});

/** Inline partials each of which fills in the next one twice: 2^depth times in all. */
function doubling(depth: number): string {
  const partials = Array.from({ length: depth }, (_, i) => {
    const next = i === depth - 1 ? 'x' : `{{> p${i + 1}}}{{> p${i + 1}}}`;
    return `{{#*inline "p${i}"}}${next}{{/inline}}`;
  });
  return `${partials.join('')}{{> p0}}`;
}

describe('what all templates of a step become', () => {
  it.each([
    ['texts', (i: number) => `${i} {{job.long}}`],
    ['loops', () => '{{#each job.list}}x{{/each}}'],
    ['lists that are filled in whole', () => '{{job.lists}}'],
    ['texts that are filled in whole', () => '{{job.longest}}'],
  ])('is bounded together: %s', (_title, text) => {
    const long = 'x'.repeat(100_000);
    const list = Array.from({ length: 1_000 }, Number);
    const lists = Array.from({ length: 10 }, () => list);
    const job = { long, longest: long.repeat(5), list, lists };
    const params = (length: number) => ({ all: Array.from({ length }, (_, i) => text(i)) });
    expect(renderParams(params(10), { job } as never, [])).toMatchObject({ ok: true });
    expect(renderParams(params(199), { job } as never, [])).toMatchObject({ ok: false });
  });
});

describe('a list or an object in several tags of a step', () => {
  it.each([
    ['list', 'a {{job.params.all}}', 'a x'],
    ['object', 'a {{json job.params.all}}', 'a ["x"]'],
  ])('is written out once: the %s', (_title, tag, expected) => {
    let asked = 0;
    const write = (): string => {
      asked += 1;
      return 'x';
    };
    const all = [{ toString: write, toJSON: write }];
    const job = { ...context.job, params: { all } };
    const params = { a: `${tag} ${tag}`, b: tag };
    expect(renderParams(params, { ...context, job }, [])).toEqual({
      ok: true,
      value: { a: `${expected} ${expected}`, b: expected },
    });
    expect(asked).toBe(1);
  });
});

describe('a template text', () => {
  it('is checked without being filled in', () => {
    expect(checkTemplate('{{a.b}}')).toBeUndefined();
    expect(checkTemplate('- {{a}}'.repeat(201))).toBeUndefined();
    expect(checkTemplate('{{#if a}}')).toEqual(expect.any(String));
  });

  it('that nests too deep is refused before it takes long', () => {
    const nested = (open: string, close: string, depth: number): string =>
      open.repeat(depth) + close.repeat(depth);
    const fine = [
      nested('{{#if a}}', '{{/if}}', 100),
      nested('{{~#each a}}', '{{~/each}}', 100),
      '{{#if a}}x{{^}}y{{/if}}'.repeat(500),
      '{{#if a}}x{{else if b}}y{{else}}z{{/if}}'.repeat(500),
      `(:-(${'('.repeat(500)} {{a}}`,
      '{{a}}'.repeat(5_000),
    ];
    for (const text of fine) expect(() => readTemplate(text)).not.toThrow();
    const deep = [
      nested('{{#if a}}', '{{/if}}', 101),
      '{{#if a}}'.repeat(8_000),
      `{{#if a}}${'{{else if b}}'.repeat(8_000)}{{/if}}`,
      `{{a ${nested('(b ', ')', 101)}}}`,
      nested('{{{{raw}}}}{{#if a}}', '{{/if}}', 8_000),
      nested('{{^a}}', '{{/a}}', 8_000),
    ];
    const began = performance.now();
    for (const text of deep) expect(checkTemplate(text)).toMatch(/nested deeper than 100 levels/);
    expect(performance.now() - began).toBeLessThan(20_000);
    const rendered = renderParams({ text: deep[1] }, context, []);
    expect(rendered).toMatchObject({ ok: false, at: 'text' });
  });
});
