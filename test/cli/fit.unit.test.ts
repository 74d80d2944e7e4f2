import { describe, expect, it } from 'vitest';
import { fit, padded, widthOf } from '../../src/cli/fit.js';
import { createRedraw } from '../../src/cli/redraw.js';
import { wantsColour } from '../../src/cli/io.js';
import { windowed } from '../../src/cli/job-view.js';

const red = (text: string): string => `\u001B[31m${text}\u001B[39m`;

describe('Text on a terminal', () => {
  it.each([
    ['short', 'abc', 5, 'abc'],
    ['long', 'abcdef', 4, 'abc…'],
    ['coloured', red('abcdef'), 4, '\u001B[31mabc…\u001B[0m'],
    ['wide', '日本語', 4, '日…'],
    ['without room', 'abc', 0, ''],
  ])('that is %s is cut to its columns', (_title, text, columns, shown) => {
    expect(fit(text, columns)).toBe(shown);
  });

  it.each([
    ['abc', 3],
    [red('abc'), 3],
    ['日本', 4],
    ['e\u0301', 1],
    ['🚀', 2],
  ])('%j takes %i columns', (text, width) => {
    expect(widthOf(text)).toBe(width);
  });

  it('is filled up to its columns', () => {
    expect(padded('ab', 4)).toBe('ab  ');
    expect(padded('日', 4)).toBe('日  ');
  });
});

describe('Colours', () => {
  it.each([
    ['a terminal', true, {}, true],
    ['a pipe', false, {}, false],
    ['a terminal with NO_COLOR', true, { NO_COLOR: '1' }, false],
    ['a terminal with an empty NO_COLOR', true, { NO_COLOR: '' }, true],
    ['a pipe with FORCE_COLOR', false, { FORCE_COLOR: '1' }, true],
    ['a terminal with FORCE_COLOR=0', true, { FORCE_COLOR: '0' }, false],
    ['both variables', true, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
    ['a dumb terminal', true, { TERM: 'dumb' }, false],
  ])('of %s are as wished', (_title, isTTY, env, wanted) => {
    expect(wantsColour({ isTTY }, env)).toBe(wanted);
  });
});

describe('Lines that are drawn in their place', () => {
  function screen(columns: number, rows: number) {
    let written = '';
    const size = { columns, rows };
    const write = (text: string): void => void (written += text);
    const redraw = createRedraw({ size: () => size, write, onResize: () => () => undefined });
    const take = (): string => {
      const text = written;
      written = '';
      return text;
    };
    return { redraw, take, size };
  }

  it('go back over what was there before', () => {
    const { redraw, take } = screen(20, 10);
    redraw.draw(['a', 'b']);
    take();
    redraw.draw(['c']);
    expect(take()).toBe('\u001B[2A\rc\u001B[K\n\u001B[J');
  });

  it('are cut to the terminal, and leave its last row free', () => {
    const { redraw, take } = screen(6, 3);
    redraw.draw(['abcdefgh', 'b', 'c', 'd']);
    expect(take()).toBe('\rabcd…\u001B[K\nb\u001B[K\n\u001B[J');
  });

  it('go back over more rows when the terminal became narrower', () => {
    const { redraw, take, size } = screen(10, 10);
    redraw.draw(['abcdefgh']);
    take();
    size.columns = 4;
    redraw.clear();
    expect(take()).toBe('\u001B[2A\r\u001B[J');
  });
});

describe('A list that has no room', () => {
  const io = { style: (_style: string, text: string) => text };
  const lines = ['0', '1', '2', '3', '4', '5', '6', '7'];
  it.each([
    [8, 0, lines],
    [5, 0, ['0', '1', '2', '  … 5 more below']],
    [5, 4, ['  … 3 more above', '3', '4', '5', '  … 2 more below']],
    [5, 7, ['  … 5 more above', '5', '6', '7']],
  ])('shows in %i rows what is around line %i', (room, first, shown) => {
    expect(windowed(lines, room, first, io)).toEqual(shown);
  });
});
