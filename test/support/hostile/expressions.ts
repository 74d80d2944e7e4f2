import {
  flow,
  job,
  kind,
  list,
  nested,
  one,
  record,
  slow,
  type Kind,
  type Written,
} from './kind.js';

/** A job whose only step evaluates an expression. */
const evaluated = (expression: string, params: object = {}): readonly Written[] => [
  job({ tasks: [{ task: 'jsonata', params: { expression, ...params } }] }),
];
/** A job that asks a condition before its only step. */
const asked = (when: string): readonly Written[] => [
  job({ tasks: [{ structure: 'choice', choice: [{ when, then: 'noop' }] }] }),
];
/** A job with a template in a parameter of its only step. */
const filled = (text: unknown, params: object = {}): readonly Written[] => [
  job({ tasks: [{ task: 'noop', params: { text } }], params }),
];

/** Expressions that take long, take all memory, or become large. */
const expressions: readonly Kind[] = [
  slow(
    kind('endless recursion', 2, (n) =>
      evaluated(
        one(
          n,
          '($f := function($n) { $f($n + 1) }; $f(1))',
          '($f := function() { [$f(), $f()] }; $f())',
          '($f := function($n) { $n > 0 ? $f($n - 1) + $f($n - 1) : 1 }; $f(60))',
          '($y := function($f) { $f($f) }; $y($y))',
        ),
      ),
    ),
  ),
  slow(
    kind('endless product', 2, (n) =>
      evaluated(`[1..${3_000 + n}].([1..3000].($ * 2)).([1..3000].$)`),
    ),
  ),
  slow(
    kind('endless condition', 3, (n) =>
      asked(`$count([1..${5_000 + n}].([1..5000].([1..5000].$))) > 0`),
    ),
  ),
  kind('pattern of an expression', 0, (n) =>
    evaluated(`$match("${'a'.repeat(30 + n)}b", /${one(n, '^(a+)+$', '(a|a)*$', '(.*a){20}$')}/)`),
  ),
  kind('replacing pattern', 0, (n) =>
    evaluated(`$replace("${'ab'.repeat(2_000 + n)}", /(a|b|ab)*c/, "x")`),
  ),
  slow(
    kind('large answer', 2, (n) =>
      evaluated(
        one(
          n,
          '$join([1..900000].("xxxxxxxxxxxxxxx" & $string($) & $string($)))',
          '[1..1000000].{"a": $}',
          '$pad("x", 100000000)',
          '($f := function($s, $n) { $n = 0 ? $s : $f($s & $s, $n - 1) }; $f("xxxxxxxx", 40))',
        ),
      ),
    ),
  ),
  slow(
    kind('sorting and grouping', 2, (n) =>
      evaluated(
        one(
          n,
          '$sort([1..200000], function($l, $r) { $l < $r })',
          '[1..100000]{$string($): $}',
          '$distinct([1..20000].{"a": $})',
          '$reduce([1..1000000], function($a, $b) { $a & $string($b) })',
        ),
      ),
    ),
  ),
  kind('long expression', 3, (n) => [
    ...asked(list(8_000 + n, (i) => `a${i}`).join(' and ')),
    ...asked('('.repeat(3_000 + n) + '1' + ')'.repeat(3_000 + n)),
  ]),
  kind('very long expression', 2, (n) => evaluated(`1 ${'+ 1 '.repeat(60_000 + n)}`)),
  kind('broken expression', [0, 2], (n) => evaluated(one(n, '(((', '[1..', '$$$$', '{"a":}'))),
  kind('map over everything', 3, (n) => [
    job({
      tasks: [{ structure: 'map', map: { over: `[1..${300_000 + n}]`, do: 'noop' } }],
    }),
  ]),
  slow(
    kind('output', 3, (n) => [
      flow(`output-${n}`, { output: { a: '[1..3000].([1..3000].([1..100].$))' } }),
      job({ flow: `output-${n}` }),
    ]),
  ),
  kind('deep output', 3, (n) => [
    flow(`deep-output-${n}`, { output: nested(150, '1', (a) => ({ a })) }),
    job({ flow: `deep-output-${n}` }),
  ]),
];

/** Templates that take long to read or to fill in, or become large. */
const templates: readonly Kind[] = [
  kind('nested template', 3, (n) => {
    const depth = 300 + n;
    return filled('{{#if job}}'.repeat(depth) + '{{/if}}'.repeat(depth));
  }),
  kind('looping template', 3, (n) =>
    filled('{{#each job.params.l}}{{#each ../job.params.l}}x{{/each}}{{/each}}', {
      l: list(2_000 + n, (i) => i),
    }),
  ),
  kind('template that grows', 3, (n) =>
    filled('{{#each job.params.l}}{{../job.params.s}}{{/each}}', {
      l: list(15_000, (i) => i),
      s: 'x'.repeat(1_000 + n),
    }),
  ),
  kind('many tags', 3, (n) => filled('{{job._id}} '.repeat(5_000 + n))),
  kind('tags up to the limit', 3, (n) => filled('a {{job._id}} '.repeat(499 - (n % 5)))),
  kind('tags of helpers', 3, (n) => filled('{{json job}} {{json results}} '.repeat(240 - n))),
  kind('many templates', 3, (n) => filled(list(3_000 + n, (i) => `${i} {{job._id}}`))),
  kind('many sole paths', 0, (n) =>
    filled(
      list(5_000 + n, () => '{{job.params.l}}'),
      { l: [n] },
    ),
  ),
  kind('sole paths of large values', 3, (n) =>
    filled(
      list(2_000, () => '{{job.params.l}}'),
      { l: list(2_000 + n, (i) => i) },
    ),
  ),
  kind('tags of lists', 3, (n) =>
    filled('x{{job.params.l}}'.repeat(200 - (n % 5)), { l: list(20_000, (i) => 1_000 + i) }),
  ),
  kind('loops in many templates', 3, (n) =>
    filled(
      list(190 - (n % 5), () => '{{#each job.params.l}}x{{/each}}'),
      { l: list(15_000, (i) => i) },
    ),
  ),
  kind('partials that double', 3, (n) => {
    const depth = 30 + (n % 20);
    const partials = list(depth, (i) => {
      const next = i === depth - 1 ? 'x' : `{{> p${i + 1}}}{{> p${i + 1}}}`;
      return `{{#*inline "p${i}"}}${next}{{/inline}}`;
    });
    return filled(`${partials.join('')}{{> p0}}`);
  }),
  kind('tags in tags', 3, (n) => filled(`${'{{'.repeat(400 + n)}x${'}}'.repeat(400 + n)}`)),
  kind('long path in a template', 3, (n) => filled(`a {{job${'.x'.repeat(20_000 + n)}}}`)),
  kind('long text without an end', 3, (n) => filled(`{{job ${' '.repeat(200_000 + n)}`)),
  kind('brackets without an end', 0, (n) => filled(`[[${'a '.repeat(100_000 + n)}`)),
  kind('parentheses in a template', 3, (n) =>
    filled(`{{${'(json '.repeat(150 + n)}job${')'.repeat(150 + n)}}}`),
  ),
  kind('prototype in a template', [0, 3], (n) =>
    filled(
      `a ${one(n, '{{constructor.constructor}}', '{{job.__proto__}}', '{{lookup job "constructor"}}{{job.constructor.name}}')}`,
    ),
  ),
  kind('ten thousand parameters', 3, (n) => [
    job({
      tasks: ['noop'],
      params: { noop: record(10_000 + n, (i) => [`p${i}`, `${i} {{job._id}}`]) },
    }),
  ]),
];

export const computing: readonly Kind[] = [...expressions, ...templates];
