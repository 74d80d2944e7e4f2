import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findProgram } from '../bench/programs.js';
import { programsIn, skipNote } from './support/programs.js';
import { skippedLine } from './support/skipped-reporter.js';

async function folderWith(...files: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tws-programs-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const file of files) {
    await writeFile(join(folder, file), '#!/bin/sh\n');
    await chmod(join(folder, file), 0o755);
  }
  return folder;
}

describe('a program that tests need', () => {
  it('is looked for on the PATH under each of its names', async () => {
    const folder = await folderWith('google-chrome');
    const empty = await folderWith();
    expect(findProgram('chromium', { PATH: `${empty}:${folder}` })).toBe(
      join(folder, 'google-chrome'),
    );
    expect(findProgram('chromium', { PATH: empty })).toBeUndefined();
    expect(findProgram('chromium', {})).toBeUndefined();
  });

  it('may be named by the environment, which is then all that counts', async () => {
    const folder = await folderWith('chromium', 'own');
    const env = { PATH: folder, CHROMIUM: join(folder, 'own') };
    expect(findProgram('chromium', env)).toBe(join(folder, 'own'));
    expect(findProgram('chromium', { ...env, CHROMIUM: join(folder, 'none') })).toBeUndefined();
  });

  it('is a file that can be run', async () => {
    const folder = await folderWith();
    await mkdir(join(folder, 'chromium'));
    await writeFile(join(folder, 'curl'), '');
    expect(findProgram('chromium', { PATH: folder })).toBeUndefined();
    expect(findProgram('curl', { PATH: folder })).toBeUndefined();
  });
});

describe('the line about skipped tests', () => {
  it('counts them, names what is missing and says how to run them', () => {
    const notes = [skipNote(['chromium']), skipNote(['chromium']), skipNote(['script', 'bash'])];
    expect(skippedLine([...notes, undefined, 'some other reason'])).toBe(
      '3 tests were skipped on this machine, which lacks chromium (2), script (1), bash (1): install what is missing (or set CHROMIUM to the path of a Chromium) and run npm test again.',
    );
    expect(skippedLine([skipNote(['curl'])])).toBe(
      '1 test was skipped on this machine, which lacks curl (1): install what is missing and run npm test again.',
    );
  });

  it('is not there when nothing was skipped for want of a program', () => {
    expect(skippedLine([])).toBe('');
    expect(skippedLine([undefined, 'some other reason'])).toBe('');
  });

  it('reads the programs of its own notes only', () => {
    expect(programsIn(skipNote(['curl', 'bash']))).toEqual(['curl', 'bash']);
    expect(programsIn('for a while')).toEqual([]);
  });
});
