import { setDiagnostics } from '@codemirror/lint';
import type { EditorView } from '@codemirror/view';
import type { Problem } from '../../model/problems.js';
import {
  findingsInText,
  findingsOf,
  withoutDoubles,
  type CheckAnswer,
  type EditorFinding,
} from './marks.js';

/** How a document is checked. */
export type Checks = {
  /** At once, without the server. */
  readonly own: (value: unknown) => readonly Problem[];
  /** What the server says; absent: it is not asked. Rejects when it cannot be. */
  readonly server?: ((value: unknown, signal: AbortSignal) => Promise<CheckAnswer>) | undefined;
};

export type Checking = {
  /** To be called when the text has changed. */
  readonly soon: (view: EditorView) => void;
  readonly stop: () => void;
};

/** Milliseconds of silence before a check; somebody who is still writing is left alone. */
const after = { own: 250, server: 700 } as const;

/**
 * Checks a text in the background: the schema when somebody has paused, the server a little later.
 * What is found is marked in the text and told.
 */
export function createChecking(
  checks: () => Checks,
  tell: (findings: readonly EditorFinding[], settled: boolean) => void,
): Checking {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking = new AbortController();
  const stop = (): void => {
    clearTimeout(timer);
    asking.abort();
  };
  const show = (view: EditorView, found: readonly EditorFinding[], settled: boolean): void => {
    const findings = withoutDoubles(found);
    const length = view.state.doc.length;
    const within = (at: number): number => Math.min(at, length);
    view.dispatch(
      setDiagnostics(
        view.state,
        findings.map(({ from, to, severity, message }) => ({
          from: within(from),
          to: within(to),
          severity,
          message,
        })),
      ),
    );
    tell(findings, settled);
  };
  const askServer = async (view: EditorView, text: string, own: readonly EditorFinding[]) => {
    const { server } = checks();
    asking = new AbortController();
    const { signal } = asking;
    try {
      const checked = await server?.(JSON.parse(text), signal);
      if (!signal.aborted) show(view, [...own, ...findingsOf(text, checked ?? {})], true);
    } catch {
      // A server that cannot be asked now will say it when somebody saves.
      if (!signal.aborted) show(view, own, true);
    }
  };
  const checkOwn = (view: EditorView): void => {
    const text = view.state.doc.toString();
    const inText = findingsInText(text);
    const isJson = !inText.some(({ severity }) => severity === 'error');
    const problems = isJson ? checks().own(JSON.parse(text)) : [];
    const found = [...inText, ...findingsOf(text, { problems })];
    const isAsked = isJson && problems.length === 0 && checks().server !== undefined;
    // While the server is asked, what it said before stays where it is.
    if (!isAsked) return show(view, found, true);
    timer = setTimeout(() => void askServer(view, text, found), after.server - after.own);
  };
  return {
    soon: (view) => {
      stop();
      timer = setTimeout(() => checkOwn(view), after.own);
    },
    stop,
  };
}
