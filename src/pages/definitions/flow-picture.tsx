import { useMemo, useRef } from 'preact/hooks';
import { branchPlaces, placesIn } from '../../reading/check.js';
import { FlowGraph } from '../graph/flow-graph.js';
import type { Picture } from '../../picture/picture.js';
import type { ShownJob } from '../../reading/trail.js';
import { pictureOf } from '../../picture/picture-of.js';
import type { Flow } from '../../model/flow.js';
import type { KnownDefinitions } from './known.js';
import { flowOf, taskDefinitions } from './uses.js';

type Props = {
  /** What stands in the editor; undefined while it is no JSON. */
  readonly value: unknown;
  readonly known: KnownDefinitions | undefined;
  /** Leads to the JSON path of a node that was pressed. */
  readonly goTo?: (path: string) => void;
};

/** The graph of what is in the editor; while that is no flow, of what it was before. */
export function FlowPicture({ value, known, goTo }: Props) {
  const flow = useMemo(() => flowOf(value), [value]);
  const picture = useMemo(
    () => (flow === undefined ? undefined : pictureOf(flow.tasks, picturedOf(flow, known))),
    [flow, known],
  );
  const last = useRef<Picture>();
  if (picture !== undefined) last.current = picture;
  const shown = picture ?? last.current;
  return (
    <section class="box picture" aria-labelledby="picture-title">
      <h2 id="picture-title">Graph</h2>
      {shown === undefined && <p class="muted">It is drawn as soon as the text is a valid flow.</p>}
      {shown !== undefined && picture === undefined && (
        <p class="muted" role="status">
          The text is no valid flow at the moment; this is how it was before.
        </p>
      )}
      {shown !== undefined && (
        <FlowGraph
          picture={shown}
          label="Graph of the flow"
          {...(goTo === undefined || flow === undefined
            ? {}
            : { onSelect: (path: string) => goTo(jsonPathOf(flow, path)) })}
        />
      )}
    </section>
  );
}

/** What is drawn beside the steps: handlers of the flow and of its tasks. */
function picturedOf(flow: Flow, known: KnownDefinitions | undefined): ShownJob {
  const { tasks: _drawn, ...settings } = flow;
  return { flow_definition: settings, definitions: taskDefinitions(flow, known?.tasks ?? []) };
}

/** Where the node of a path stands in the document; a structure stands where its first step is. */
export function jsonPathOf(flow: Flow, path: string): string {
  const roots = [...placesIn(flow.tasks, 'tasks'), ...branchPlaces(flow)];
  const of = path.replace(/\.(?:error|undo)$/, '');
  const exact = roots.find(({ leaf }) => leaf.path === of);
  const within = roots.find(({ leaf }) => leaf.path.startsWith(`${of}.`));
  return (exact ?? within)?.at ?? (path === 'error' || path === 'cancel' ? path : 'tasks');
}
