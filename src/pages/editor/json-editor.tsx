import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  indentOnInput,
  indentUnit,
} from '@codemirror/language';
import { lintGutter, lintKeymap, nextDiagnostic } from '@codemirror/lint';
import {
  highlightSelectionMatches,
  openSearchPanel,
  search,
  searchKeymap,
} from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { styleNonce } from '../style-nonce.js';
import { appearance } from './appearance.js';
import { createChecking, type Checks } from './checking.js';
import { colouring } from './colouring.js';
import { completing } from './completing.js';
import type { NamesByKind } from './completion.js';
import { FindingList } from './finding-list.js';
import type { EditorFinding } from './marks.js';
import { spanAt } from './places.js';
import { parseJsonText } from './read-json.js';
import type { JsonSchema } from '../../model/scalars.js';
import { secretsShown } from './secrets-shown.js';

type Props = {
  /** What is edited, as people who cannot see it are told. */
  readonly label: string;
  /** What stands in it at first, and whenever `edition` changes. */
  readonly text: string;
  /**
   * Another one when somebody else than the writer has changed the text. Without it, a text that comes
   * back from the page a moment late would undo what was written meanwhile.
   */
  readonly edition?: number;
  readonly onText: (text: string) => void;
  /** What is proposed while somebody writes; it may come later. */
  readonly schema?: JsonSchema | undefined;
  readonly names?: NamesByKind;
  readonly checks?: Checks;
  /** What was found; `settled`: nothing is being looked at any more. */
  readonly onFindings?: (findings: readonly EditorFinding[], settled: boolean) => void;
  /** Somebody asked to save, with Ctrl-S. */
  readonly onSave?: () => void;
  readonly readOnly?: boolean;
  /** Is given what leads to a place in the text. */
  readonly handle?: EditorRef;
};

/** Where an editor puts what a page can do with it. */
export type EditorRef = { current: EditorHandle | undefined };

/** What a page can do with its editor. */
export type EditorHandle = {
  /** Leads to the value at a JSON path. */
  readonly goTo: (path: string) => void;
};

/** Nothing is known and nothing is wrong. */
const noNames: NamesByKind = {};
const noChecks: Checks = { own: () => [] };

/** An editor of a JSON document: proposals, checks at the place, search, undo; Escape and Tab leave it. */
export function JsonEditor(props: Props) {
  const help = useId();
  const { place, view, findings, settled } = useEditorView(props, help);
  const goTo = ({ from }: { readonly from: number }): void => moveTo(view.current, from);

  if (props.handle !== undefined) {
    props.handle.current = {
      goTo: (path) =>
        goTo(spanAt(parseJsonText(view.current?.state.doc.toString() ?? '').tree, path)),
    };
  }

  return (
    <div class="editor">
      <div class="editor-tools" role="group" aria-label={`Tools for: ${props.label}`}>
        <button
          type="button"
          class="quiet"
          onClick={() => view.current && openSearchPanel(view.current)}
        >
          Find
        </button>
        <button type="button" class="quiet" onClick={() => view.current && arrange(view.current)}>
          Format
        </button>
        <span class="muted" id={help}>
          Ctrl-Space proposes, Ctrl-F finds
          {props.onSave === undefined ? '' : ', Ctrl-S saves'}. Escape, then Tab leaves the editor.
        </span>
      </div>
      <div class="editor-text" ref={place} />
      <FindingList findings={findings} settled={settled} goTo={goTo} />
    </div>
  );
}

/** Keeps a CodeMirror view in `place`, with the text of the page and the findings of its checks. */
function useEditorView(props: Props, help: string) {
  const { edition = 0 } = props;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>();
  const latest = useRef(props);
  latest.current = props;
  const [findings, setFindings] = useState<readonly EditorFinding[]>([]);
  const [settled, setSettled] = useState(false);

  useEffect(() => {
    const checking = createChecking(
      () => latest.current.checks ?? noChecks,
      (found, isSettled) => {
        setFindings(found);
        setSettled(isSettled);
        latest.current.onFindings?.(found, isSettled);
      },
    );
    const changed = EditorView.updateListener.of((update) => {
      if (!update.docChanged) return;
      latest.current.onText(update.state.doc.toString());
      setSettled(false);
      checking.soon(update.view);
    });
    const made = new EditorView({
      parent: place.current ?? undefined,
      state: EditorState.create({
        doc: latest.current.text,
        extensions: [extensionsOf(latest, help), changed],
      }),
    } as ConstructorParameters<typeof EditorView>[0]);
    view.current = made;
    checking.soon(made);
    return () => {
      checking.stop();
      made.destroy();
    };
  }, []);

  useEffect(() => {
    const current = view.current;
    const { text } = latest.current;
    const shown = current?.state.doc.toString();
    if (current === undefined || shown === text) return;
    current.dispatch({ changes: { from: 0, to: shown?.length ?? 0, insert: text } });
  }, [edition]);

  return { place, view, findings, settled };
}

/** Moves the cursor to a place of the text and scrolls it into view. */
function moveTo(view: EditorView | undefined, from: number): void {
  if (view === undefined) return;
  const anchor = Math.min(from, view.state.doc.length);
  view.dispatch({
    selection: { anchor },
    effects: EditorView.scrollIntoView(anchor, { y: 'center' }),
  });
  view.focus();
}

function extensionsOf(latest: { readonly current: Props }, help: string): Extension {
  const { label, readOnly = false } = latest.current;
  const save = {
    key: 'Mod-s',
    run: () => {
      latest.current.onSave?.();
      return true;
    },
  };
  return [
    styleNonce === '' ? [] : EditorView.cspNonce.of(styleNonce),
    lineNumbers(),
    highlightActiveLineGutter(),
    foldGutter(),
    lintGutter(),
    history(),
    drawSelection(),
    EditorState.tabSize.of(2),
    indentUnit.of('  '),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    completing(() => ({ schema: latest.current.schema, names: latest.current.names ?? noNames })),
    highlightActiveLine(),
    highlightSelectionMatches(),
    search({ top: true }),
    json(),
    colouring(),
    secretsShown(),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({
      'aria-label': label,
      'aria-describedby': help,
      spellcheck: 'false',
      tabindex: '0',
    }),
    EditorState.readOnly.of(readOnly),
    keymap.of([
      save,
      { key: 'F8', run: nextDiagnostic },
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...foldKeymap,
      ...completionKeymap,
      ...lintKeymap,
      indentWithTab,
    ]),
    appearance,
  ];
}

/** Writes the document with two spaces; a text that is no JSON stays as it is. */
function arrange(view: EditorView): void {
  const text = view.state.doc.toString();
  const read = parseJsonText(text);
  if (!('value' in read)) return;
  const insert = JSON.stringify(read.value, null, 2);
  if (insert !== text) view.dispatch({ changes: { from: 0, to: text.length, insert } });
}
