/** `1 job`, `2 jobs`; words that do not just take an "s" give their plural. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `a, b, c and 4 more`: the first few of many. */
export function listed(names: readonly string[], most = 3): string {
  const more = names.length - most;
  const shown = names.slice(0, most).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** A length of time for people, in ms: `35 ms`, `1.2 s`, `42 s`, `3 min 5 s`, `2 h`, `4 d 3 h`. */
export function lengthOf(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 100) return `${whole} ms`;
  if (whole < 9_950) return `${(whole / 1000).toFixed(1).replace('.0', '')} s`;
  const seconds = Math.round(whole / 1000) * 1000;
  const at = units.findIndex(([, unit]) => seconds >= unit);
  const [name, unit] = units[at] ?? units[3];
  const big = `${Math.floor(seconds / unit)} ${name}`;
  const next = units[at + 1];
  const rest = next === undefined ? 0 : Math.floor((seconds % unit) / next[1]);
  return next === undefined || rest === 0 ? big : `${big} ${rest} ${next[0]}`;
}

/** A moment (epoch ms) as seen from `now`: `3 min ago`, `in 2 h`, `now`. */
export function momentFrom(now: number, at: number): string {
  const distance = at - now;
  if (Math.abs(distance) < 1_000) return 'now';
  const rough = lengthOf(Math.round(Math.abs(distance) / 1000) * 1000).replace(/\.\d/, '');
  return distance > 0 ? `in ${rough}` : `${rough} ago`;
}

/** So many characters of a text at the most, `…` in place of the others; no character is cut in two. */
export function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(/\p{Surrogate}$/u, '')}…`;
}

/** A text with a full stop behind it, where it has no mark of its own. */
export function asSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** A value of a document as text, whatever it is: an object that says how it becomes text is not asked. */
export function textOf(value: unknown): string {
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) ? '[list]' : '[object]';
  return String(value);
}

/** A place in a line, from 1: `3rd`, `11th`. */
export function ordinal(place: number): string {
  const isTeen = Math.floor(place / 10) % 10 === 1;
  const ending = isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][place % 10] ?? 'th');
  return `${place}${ending}`;
}
