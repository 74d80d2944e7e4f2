import { describe, expect, it } from 'vitest';
import { createControls } from '../../../src/engine/control/controls.js';

const control = (more: object) => ({
  _id: 'c',
  _rev: '1-a',
  type: 'engine-control',
  engine: 'engine:me',
  enabled: false,
  ...more,
});

function controls(isReporter: (of: string) => boolean = () => true) {
  const told: boolean[] = [];
  const warned: string[] = [];
  const warn = (_about: object, message: string): void => void warned.push(message);
  const log = { debug: warn, info: warn, warn, error: warn };
  const made = createControls({
    ...{ me: 'engine:me', log, isReporter },
    onChange: (on) => told.push(on),
  });
  return { ...made, told, warned };
}

describe('a control of an engine', () => {
  it.each([
    ['that names it', 'engine:me', [false]],
    ['for all', '*', [false]],
    ['for another one', 'engine:other', []],
  ])('%s', (_title, engine, expected) => {
    const it = controls();
    expect(it.update('c', control({ engine }))).toBe(true);
    expect(it.told).toEqual(expected);
  });

  it('counts until it is changed, deleted, or no longer found', () => {
    const it = controls();
    it.update('c', control({}));
    it.update('c', control({ enabled: true }));
    it.update('c', control({}));
    it.update('c', undefined);
    it.replace([control({})]);
    it.replace([]);
    expect(it.told).toEqual([false, true, false, true, false, true]);
  });

  it('disables it as long as any of several does', () => {
    const it = controls();
    it.update('a', control({ _id: 'a' }));
    it.update('b', control({ _id: 'b', engine: '*' }));
    it.update('a', control({ _id: 'a', enabled: true }));
    expect(it.told).toEqual([false]);
  });

  it('disables it also while it has a mistake beside that', () => {
    const it = controls();
    it.update('c', control({}));
    it.update('c', control({ reason: 7 }));
    expect(it.told).toEqual([false]);
    expect(it.warned).toEqual([expect.stringContaining('reason')]);
  });

  it('is told once when it is malformed, and other documents are none', () => {
    const it = controls();
    expect(it.update('c', control({ enabled: 'no' }))).toBe(true);
    expect(it.update('d', control({ type: 'job' }))).toBe(false);
    expect(it.update('e', undefined)).toBe(false);
    expect(it.told).toEqual([]);
    expect(it.warned).toEqual([
      'Control c is not valid: enabled must be true or false; it is the string "no".',
    ]);
  });

  it('is logged once for each revision that is malformed, however often it is read', () => {
    const it = controls();
    const bad = control({ enabled: 'no' });
    it.update('c', bad);
    it.replace([bad]);
    it.replace([bad]);
    expect(it.warned).toHaveLength(1);
    it.update('c', { ...bad, _rev: '2-b' });
    it.replace([{ ...bad, _rev: '2-b' }]);
    expect(it.warned).toHaveLength(2);
  });

  it('is logged by one of the engines, by another one when that is gone', () => {
    const asked: string[] = [];
    const it = controls((of) => asked.push(of) > 1);
    it.update('c', control({ enabled: 'no' }));
    expect(it.warned).toEqual([]);
    it.replace([control({ enabled: 'no' })]);
    it.replace([control({ enabled: 'no' })]);
    expect(it.warned).toHaveLength(1);
    expect(asked).toEqual(['c', 'c']);
  });
});
