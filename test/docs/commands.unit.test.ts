import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { commands, globalOptions } from '../../src/cli/program.js';
import { buildProgram, type Chosen } from '../../src/cli/program-builder.js';
import { needPrograms } from '../support/programs.js';
import { referencePages } from '../../scripts/reference.js';
import { settings, variables, type Setting } from '../../src/config/table.js';
import { problems } from '../../src/errors.js';
import type { Parsed } from '../../src/reading/parse.js';
import { blocksIn, root } from './pages.js';

/** The `tws` commands of a script, as lists of words; what the shell would fill in stays as it is. */
function callsIn(script: string): readonly (readonly string[])[] {
  const text = script.replace(/\\\n/g, ' ').replace(/<<'(\w+)'\n[^]*?\n\1$/gm, '');
  return text.split('\n').flatMap((line) => {
    const words =
      line.match(/(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"|&;<>#()]|(?<=\S)#)+|[|&;<>()]+|#.*/g) ??
      [];
    const calls: string[][] = [[]];
    for (const word of words) {
      if (word.startsWith('#')) break;
      if (/^[|&;()]+$/.test(word)) calls.push([]);
      else calls.at(-1)?.push(word.replace(/^(['"])(.*)\1$/s, '$2'));
    }
    return calls.map(withoutRunner).filter(([program]) => program === 'tws');
  });
}

/** `npx tws list > file` -> `tws list`. */
function withoutRunner(words: readonly string[]): readonly string[] {
  const end = words.findIndex((word) => /^[<>]/.test(word));
  const call = end === -1 ? words : words.slice(0, end);
  return ['npx', 'sudo', '-u', 'if', 'xargs', 'do'].includes(call[0] ?? '')
    ? withoutRunner(call.slice(1))
    : call;
}

const printed = blocksIn('sh').flatMap(({ page, text }) =>
  callsIn(text).map((call) => [page, call.slice(1)] as const),
);

describe('the commands in README and docs', () => {
  it.each(printed.map(([page, call]) => [page, call.join(' '), call] as const))(
    'are commands of tws with options that it has (%s: tws %s)',
    async (_page, _shown, call) => {
      const chosen: Chosen[] = [];
      const parts = { commands, globalOptions, version: '0.0.0' };
      const program = buildProgram(parts, (one) => chosen.push(one));
      if (call[0] === '--version' || call[0] === '--help') return;
      await program.parseAsync(call, { from: 'user' });
      expect(chosen).toHaveLength(1);
    },
  );

  it('are found at all', () => {
    expect(printed.length).toBeGreaterThan(60);
  });

  it('are scripts that bash can read', () => {
    needPrograms('bash');
    for (const { page, line, text } of blocksIn('sh')) {
      const { status, stderr } = spawnSync('bash', ['-n'], { input: text });
      expect(`${status} ${String(stderr)}`, `${page}:${line}`).toBe('0 ');
    }
  });
});

const pages = await referencePages(root);

describe('the reference', () => {
  it('has every command, error and setting with its variable and default', () => {
    for (const { name, hidden } of commands) {
      if (hidden !== true) expect(pages['commands.md']).toContain(`\n## tws ${name}\n`);
    }
    for (const code of Object.keys(problems))
      expect(pages['errors.md']).toContain(`| \`${code}\` |`);
    const rows: readonly (readonly [string, Setting])[] = Object.entries({
      ...settings,
      ...variables,
    });
    const lines = (pages['settings.md'] ?? '').split('\n');
    for (const [name, { variable, usual }] of rows) {
      const line = lines.find(
        (one) => one.startsWith(`| \`${name}\``) || one.startsWith(`| \`${variable}\``),
      );
      expect(line, name).toBeDefined();
      if (variable !== undefined) expect(line).toContain(variable);
      if (typeof usual === 'string') expect(line).toContain(usual);
    }
  });

  it('describes every kind of document, with a meaning for each field', () => {
    const kinds: Readonly<Record<Exclude<Parsed['kind'], 'other'>, true>> = {
      ...{ task: true, flow: true, job: true, request: true, signal: true, event: true },
      ...{
        schedule: true,
        hook: true,
        'queue-control': true,
        notify: true,
        engine: true,
        lock: true,
      },
    };
    const text = pages['documents.md'] ?? '';
    for (const kind of [...Object.keys(kinds), 'engine-control', 'token', 'retention']) {
      expect(text, kind).toContain(`| \`type\` (required) | \`"${kind}"\` |`);
    }
    const rows = text.split('\n').filter((line) => /^\| `(?!type`)/.test(line));
    expect(rows.length).toBeGreaterThan(150);
    for (const row of rows) expect(row).toMatch(/ \| \S[^|]* \|$/);
  });

  it('says what every exit status of a problem means', () => {
    const { 'errors.md': text = '' } = pages;
    for (const { exit } of Object.values(problems)) expect(text).toMatch(`\n| ${exit} | `);
  });

  it('says what every failure means', () => {
    const [, failures = ''] = (pages['errors.md'] ?? '').split('## Failures of jobs');
    const rows = failures.split('\n').filter((line) => line.startsWith('| `'));
    expect(rows.length).toBeGreaterThan(80);
    for (const row of rows) expect(row).toMatch(/^\| `\w+` \| \S.+ \|$/);
  });
});
