/** Times that the charts can show: their length in ms and the spans they are told in. */
export const ranges = {
  hour: { title: 'Last hour', ms: 3_600_000, unit: 'minute' },
  day: { title: '24 hours', ms: 86_400_000, unit: 'hour' },
  week: { title: '7 days', ms: 7 * 86_400_000, unit: 'hour' },
  month: { title: '30 days', ms: 30 * 86_400_000, unit: 'day' },
} as const;
export type RangeName = keyof typeof ranges;
export type Unit = (typeof ranges)[RangeName]['unit'];
