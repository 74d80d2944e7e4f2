import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

const frame = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '0.88rem' },
  '&.cm-focused': { outline: '3px solid var(--accent)', outlineOffset: '-1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)', padding: '0.5rem 0' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)', borderLeftWidth: '2px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'color-mix(in srgb, var(--accent) 28%, var(--surface))' },
  '.cm-gutters': {
    backgroundColor: 'var(--raised)',
    color: 'var(--muted)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent) 7%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--accent-soft)', color: 'var(--text)' },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--accent-soft)',
    outline: '1px solid var(--line-strong)',
  },
  '.cm-selectionMatch': { backgroundColor: 'var(--waiting-soft)' },
  '.cm-searchMatch': {
    backgroundColor: 'var(--waiting-soft)',
    outline: '1px solid var(--waiting)',
  },
  '.cm-searchMatch.cm-searchMatch-selected': { backgroundColor: 'var(--accent-soft)' },
  '.cm-foldPlaceholder': {
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--line)',
    color: 'var(--muted)',
  },
});

const panels = EditorView.theme({
  '.cm-panels': {
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    borderColor: 'var(--line)',
  },
  '.cm-panel.cm-search': { padding: '0.4rem 2rem 0.4rem 0.5rem', fontSize: '0.95em' },
  '.cm-panel.cm-search label': { display: 'inline-flex', alignItems: 'center', gap: '0.2rem' },
  '.cm-panel.cm-search input[type=checkbox]': { margin: '0 0.2em' },
  '.cm-textfield': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line-strong)',
    fontSize: '0.95em',
  },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line-strong)',
    fontSize: '0.95em',
  },
  '.cm-panel.cm-search [name=close]': { color: 'var(--text)', fontSize: '1.2rem', top: '0.2rem' },
});

const tooltips = EditorView.theme({
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    boxShadow: 'var(--shadow)',
    overflow: 'hidden',
    zIndex: '30',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.15rem 0.5rem' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--accent-text)',
  },
  '.cm-completionDetail': { color: 'inherit', fontStyle: 'normal', opacity: '0.85' },
  '.cm-completionMatchedText': { fontWeight: '700' },
  '.cm-tooltip.cm-completionInfo': { maxWidth: '20rem', padding: '0.4rem 0.6rem' },
  '.cm-tooltip-lint': { maxWidth: '34rem' },
  '.cm-diagnostic': { padding: '0.35rem 0.6rem' },
  '.cm-diagnostic-error': { borderLeft: '4px solid var(--failed)' },
  '.cm-diagnostic-warning': { borderLeft: '4px solid var(--waiting)' },
});

/** Underlines are drawn by the browser: pictures in addresses (`data:`) are not for every page. */
const marks = EditorView.theme({
  '.cm-lintRange': { backgroundImage: 'none' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    backgroundColor: 'var(--failed-soft)',
    textDecoration: 'underline wavy var(--failed)',
    textDecorationSkipInk: 'none',
  },
  '.cm-lintRange-warning': {
    backgroundImage: 'none',
    backgroundColor: 'var(--waiting-soft)',
    textDecoration: 'underline wavy var(--waiting)',
    textDecorationSkipInk: 'none',
  },
  '.cm-lintRange-active': { backgroundColor: 'var(--waiting-soft)' },
  '.cm-lintPoint:after': { borderBottomColor: 'var(--failed)' },
  '.cm-secret': {
    backgroundColor: 'var(--scheduled-soft)',
    color: 'var(--scheduled)',
    border: '1px solid currentColor',
    borderRadius: '999px',
    fontSize: '0.9em',
    padding: '0 0.5em',
  },
});

const words = EditorView.theme({
  '.json-key': { color: 'var(--running)' },
  '.json-text': { color: 'var(--succeeded)' },
  '.json-number': { color: 'var(--paused)' },
  '.json-word': { color: 'var(--waiting)', fontWeight: '600' },
});

/** How the editor looks: the colours are those of the pages, light or dark. */
export const appearance: Extension = [frame, panels, tooltips, marks, words];
