import type { ComponentProps } from 'preact';
import { lazy, Suspense } from 'preact/compat';
import { Boundary } from '../parts/boundary.js';
import { Loading } from '../parts/loading.js';

const Loaded = lazy(() => import('./json-editor.js').then((module) => module.JsonEditor));

/** The editor, which is big: it comes when somebody edits. */
export function LazyJsonEditor(props: ComponentProps<typeof Loaded>) {
  return (
    <Boundary what="the editor">
      <Suspense fallback={<Loading what="the editor" />}>
        <Loaded {...props} />
      </Suspense>
    </Boundary>
  );
}
