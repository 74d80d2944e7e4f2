import type { SuiteCase } from './suite.js';

/** What came of a case. */
export type Verdict = { readonly one: SuiteCase; readonly wrongs: readonly string[] };

const names = ['core', 'reliable', 'scheduled', 'workflows', 'advanced'] as const;

/** The table by level, and what failed. */
export function tableOf(verdicts: readonly Verdict[]): string {
  const levels = [...new Set(verdicts.map(({ one }) => one.level))].sort((a, b) => a - b);
  const rows = levels.map((level) => {
    const own = verdicts.filter(({ one }) => one.level === level);
    return [`${level} ${names[level] ?? ''}`, countOf(own), String(own.length)];
  });
  const all = ['all', countOf(verdicts), String(verdicts.length)];
  const failed = verdicts.filter(({ wrongs }) => wrongs.length > 0);
  return [
    ...[['level', 'passed', 'of'], ...rows, all].map(lineOf),
    ...failed.map(({ one, wrongs }) => `\n${one.test_id} ${one.name}\n  ${wrongs.join('\n  ')}`),
  ].join('\n');
}

function countOf(verdicts: readonly Verdict[]): string {
  return String(verdicts.filter(({ wrongs }) => wrongs.length === 0).length);
}

function lineOf([level = '', passed = '', of = '']: readonly string[]): string {
  return `${level.padEnd(12)} ${passed.padStart(6)} ${of.padStart(5)}`;
}
