import { loadRe2 } from './late-packages.js';

/** What JSONata asks of a regular expression: to look for the next match from `lastIndex` on. */
export type RegExpEngine = {
  lastIndex: number;
  readonly exec: (text: string) => RegExpExecArray | null;
};

/**
 * A regular expression that takes a time which grows with the length of the text only, in the syntax
 * of RE2 (no look-around, no back references). Throws for what RE2 does not know.
 */
export function linearRegExp({ source, flags }: RegExp): RegExpEngine {
  const { RE2JS } = loadRe2();
  const compiled = read(() => {
    const written = RE2JS.translateRegExp(new RegExp(source, flags.replace('g', '')));
    return RE2JS.compile(written);
  }, source);
  const engine: RegExpEngine = {
    lastIndex: 0,
    exec: (text) => {
      const matcher = compiled.matcher(text);
      if (engine.lastIndex > text.length || !matcher.find(engine.lastIndex)) {
        engine.lastIndex = 0;
        return null;
      }
      engine.lastIndex = matcher.end();
      const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, i) => matcher.group(i));
      const found = groups.map((group) => group ?? undefined) as RegExpExecArray;
      return Object.assign(found, { index: matcher.start(), input: text });
    },
  };
  return engine;
}

function read<T>(compile: () => T, source: string): T {
  try {
    return compile();
  } catch (error) {
    const { message } = error as { readonly message?: unknown };
    const because = String(message).replace(/^error parsing regexp: /, '');
    throw new Error(`/${source}/ is no regular expression of RE2: ${because}`, { cause: error });
  }
}
