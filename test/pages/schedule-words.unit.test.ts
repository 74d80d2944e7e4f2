import { describe, expect, it } from 'vitest';
import { editedContent, editionHeader } from '../../src/pages/definitions/stored.js';
import { slotText, spanText, whenText, zoneIn } from '../../src/pages/schedules/when.js';

describe('when a schedule is due', () => {
  it.each([
    [{ cron: '0 6 * * *' }, '0 6 * * *'],
    [{ every: 900_000 }, 'every 15 min'],
    [{ every: 'PT1H30M', offset: 'PT5M' }, 'every 1 h 30 min, moved by 5 min'],
    [{ every: 'P1D' }, 'every 1 d'],
    [{ at: [1, 2, 3] }, 'at 3 times'],
    [{ at: ['2026-11-27T10:00Z'] }, 'at 2026-11-27T10:00Z'],
    [{ every: 'soon' }, 'never'],
    [{ every: {} }, 'never'],
    [{}, 'never'],
  ])('of %j is told as "%s"', (document, text) => {
    expect(whenText(document)).toBe(text);
  });

  it('tells no length of what is none', () => {
    expect([spanText('PT0S'), spanText(null), spanText('PT2S')]).toEqual([
      undefined,
      undefined,
      '2 s',
    ]);
  });

  it('is told in the time zone of its cron expression, else in that of whoever looks', () => {
    const cron = '@daily';
    expect(zoneIn({ cron, time_zone: 'Europe/Berlin' })).toBe('Europe/Berlin');
    expect(zoneIn({ cron })).toBe('UTC');
    expect(zoneIn({ cron, time_zone: 'Mars/Olympus' })).toBeUndefined();
    expect(zoneIn({ every: 1_000, time_zone: 'Europe/Berlin' })).toBeUndefined();
  });

  it('tells seconds of a slot only where it has some', () => {
    const slot = Date.parse('2026-11-27T10:30:00Z');
    expect(slotText(slot, 'Europe/Berlin')).toContain('11:30');
    expect(slotText(slot, 'UTC')).not.toMatch(/:00\b/);
    expect(slotText(slot + 5_000, 'UTC')).toContain(':05');
    expect(slotText(8.64e15 + 1, 'UTC')).toBe('8640000000000001');
  });
});

describe('a schedule in the editor', () => {
  const document = { _id: 's', _rev: '2-b', type: 'schedule', name: 's', flow: 'f', every: 1_000 };
  const stored = { id: 's', rev: '2-b', name: 's', owner: 'DEFAULT', document };

  it('is without what engines write', () => {
    const written = { ...document, progress: { started: 1 }, next_due: 7, problems: [] };
    expect(editedContent({ document: written })).toEqual({
      ...{ type: 'schedule', name: 's', flow: 'f', every: 1_000 },
    });
  });

  it('is stored over its edition, which engines do not change', () => {
    expect(editionHeader({ ...stored, edition: 'e' })).toEqual({ 'if-match': '"e"' });
    expect(editionHeader(stored)).toEqual({ 'if-match': '"2-b"' });
  });
});
