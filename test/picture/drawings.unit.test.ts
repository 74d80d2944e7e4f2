import { describe, expect, it } from 'vitest';
import { toTree } from '../../src/structures/to-tree.js';
import { mermaidOf } from '../../src/picture/mermaid.js';
import { pictureOf } from '../../src/picture/picture-of.js';
import { progressIn } from '../../src/reading/job-progress.js';
import { svgOf } from '../../src/picture/svg.js';
import { nodeText } from '../../src/picture/text.js';
import type { Step } from '../../src/model/step.js';

const hostile = `<b>"a" & 'b'</b> #end; [x]{y}|z|\u0007`;
const step = (path: string, state: string, more: object = {}): Step =>
  ({
    path,
    state,
    run: 1,
    attempt: 1,
    name: path,
    task: 't',
    phase: 'main',
    index: 0,
    ...more,
  }) as unknown as Step;

describe('An SVG of a picture', () => {
  const drawn = (tasks: Parameters<typeof toTree>[0], job = {}): string =>
    svgOf(pictureOf(toTree(tasks), job), { title: `Flow ${hostile}` });

  it('holds names of any signs as text and nothing else', () => {
    const svg = drawn([{ task: hostile }, { choice: [{ when: hostile, then: 'a' }] }]);
    expect(svg).toContain('&lt;b&gt;&quot;a&quot; &amp;');
    expect(svg).not.toContain('<b>');
    expect(svg).not.toContain('\u0007');
    // Every tag is one of ours, and every one that is opened is closed.
    const tags = [...svg.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/g)];
    const open: string[] = [];
    for (const [, end, name, alone] of tags) {
      if (end === '/') expect(open.pop()).toBe(name);
      else if (alone !== '/') open.push(String(name));
    }
    expect(open).toEqual([]);
  });

  it('can be read out, and needs nothing from elsewhere', () => {
    const svg = drawn(['fetch', 'mail'], {
      steps: [step('0', '$$error', { failure: { message: 'No luck.' } })],
    });
    expect(svg).toMatch(/role="img" aria-labelledby="title desc"/);
    expect(svg).toMatch(/<desc id="desc">fetch \(failed\); mail \(pending\)<\/desc>/);
    expect(svg).toContain('<title>fetch (failed): No luck.</title>');
    expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(
      /https?:|url\((?!#)|@import|<script/,
    );
  });

  it('suits light and dark', () => {
    expect(drawn(['a'])).toContain('@media (prefers-color-scheme:dark)');
  });
});

describe('A Mermaid flowchart of a picture', () => {
  it('has nodes, frames, edges and states', () => {
    const tasks = [{ parallel: ['a', 'b'] }, { task: 'c', error: 'h' }];
    const steps = [step('0.parallel.0', '$$complete'), step('0.parallel.1', '$$active')];
    const text = mermaidOf(pictureOf(toTree(tasks), { steps }));
    expect(text).toMatchInlineSnapshot(`
      "flowchart TD
        n0(("begin")):::done
        n5["c<br/>pending"]:::pending
        n6("h<br/>pending"):::pending
        n7((("end"))):::pending
        subgraph f0 [" "]
          n1(["parallel<br/>active"]):::active
          n2["a<br/>done"]:::done
          n3["b<br/>active"]:::active
          n4((" "))
        end
        n1 --> n2
        n1 --> n3
        n2 --> n4
        n3 --> n4
        n5 -.->|"on error"| n6
        n4 --> n5
        n0 --> n1
        n5 --> n7
        classDef done fill:#dcfce7,stroke:#15803d,color:#111827
        classDef active fill:#dbeafe,stroke:#1d4ed8,color:#111827,stroke-width:3px
        classDef pending fill:#ffffff,stroke:#6b7280,color:#111827
      "
    `);
  });

  it('writes signs with a meaning of their own as characters', () => {
    const text = mermaidOf(pictureOf(toTree([{ task: hostile }])));
    expect(text).toContain(
      "\"#60;b#62;#34;a#34; #38; 'b'#60;/b#62; #35;end#59; #91;x#93;#123;y#125;#124;z#124;",
    );
  });
});

describe('The text of a node', () => {
  it.each([
    ['short', 'mail', ['mail']],
    [
      'long',
      'a-name-of-more-than-thirty-four-signs-at-all',
      ['a-name-of-more-than-thirty-four-', 'signs-at-all'],
    ],
    ['without a place to break it', 'x'.repeat(80), ['x'.repeat(34), `${'x'.repeat(33)}…`]],
  ])('that is %s takes these lines', (_title, label, lines) => {
    expect(nodeText({ id: '0', path: '0', kind: 'task', label }).lines).toEqual(lines);
  });
});

describe('The progress of a job', () => {
  it('counts the steps that are done, of those that are known', () => {
    const tasks = ['a', { map: { over: 'x', do: 'b' } }, { choice: [{ when: 'y', then: 'c' }] }];
    const mark = (path: string, result: object): Step =>
      step(path, '$$complete', { structure: 'x', result });
    const begun = [
      step('0', '$$complete'),
      mark('1', { items: [1, 2, 3] }),
      step('1.map.0', '$$complete'),
    ];
    const job = { steps: [...begun, step('1.map.1', '$$active')] };
    expect(progressIn(pictureOf(toTree(tasks), job).nodes)).toMatchObject({
      done: 2,
      total: 5,
      failed: 0,
      current: [{ label: 'b' }],
    });
    const later = {
      steps: [
        ...begun,
        step('1.map.1', '$$complete'),
        step('1.map.2', '$$error'),
        mark('2', { chosen: null }),
      ],
    };
    expect(progressIn(pictureOf(toTree(tasks), later).nodes)).toMatchObject({
      done: 3,
      total: 4,
      failed: 1,
      current: [],
    });
  });
});
