import { render, type ComponentChildren, type ComponentType } from 'preact';
import { lazy, Suspense } from 'preact/compat';
import { Route, Router, Switch, useLocation } from 'wouter-preact';
import { pageTable, type AdminPage } from '../http/page-table.js';
import { Layout } from './layout/layout.js';
import { Boundary } from './parts/boundary.js';
import { Loading } from './parts/loading.js';
import { pathWord } from './parts/path-word.js';
import { NotFound } from './layout/not-found.js';
import { SignInGate } from './session/sign-in-gate.js';

/** Where the pages are; routes and links are below it. */
const base = '/_tws/admin';

/** What the words of a path tell its page. */
type Words<Path extends string> = Path extends `${string}:${infer Name}`
  ? { readonly [N in Name]: string }
  : object;

const shown: {
  readonly [P in AdminPage as P['module']]: ComponentType<Words<P['path']>>;
} = {
  'overview/overview.tsx': lazy(() =>
    import('./overview/overview.js').then((page) => page.OverviewPage),
  ),
  'jobs/jobs.tsx': lazy(() => import('./jobs/jobs.js').then((page) => page.JobsPage)),
  'job/job.tsx': lazy(() => import('./job/job.js').then((page) => page.JobPage)),
  'definitions/flows.tsx': lazy(() =>
    import('./definitions/flows.js').then((page) => page.FlowsPage),
  ),
  'definitions/flow.tsx': lazy(() => import('./definitions/flow.js').then((page) => page.FlowPage)),
  'definitions/tasks.tsx': lazy(() =>
    import('./definitions/tasks.js').then((page) => page.TasksPage),
  ),
  'definitions/task.tsx': lazy(() => import('./definitions/task.js').then((page) => page.TaskPage)),
  'form/submit.tsx': lazy(() => import('./form/submit.js').then((page) => page.SubmitPage)),
  'engines/engines.tsx': lazy(() =>
    import('./engines/engines.js').then((page) => page.EnginesPage),
  ),
};

function Pages() {
  return (
    <Router base={base}>
      <Layout>
        <SignInGate>
          <Shown>
            <Switch>
              {pageTable.map(({ path, module }) => (
                <Route key={path} path={path}>
                  {(words) => <Page module={module} words={words} />}
                </Route>
              ))}
              <Route component={NotFound} />
            </Switch>
          </Shown>
        </SignInGate>
      </Layout>
    </Router>
  );
}

type PageProps = {
  readonly module: AdminPage['module'];
  readonly words: Readonly<Record<string, string | undefined>>;
};

/** A page of the table, a new one for other words of its path. */
function Page({ module, words }: PageProps) {
  const Content = shown[module] as ComponentType<Readonly<Record<string, string>>>;
  const known = Object.entries(words).filter(([name]) => !/^\d/.test(name));
  const read = known.map(([name, word = '']) => [name, pathWord(word)] as const);
  return <Content key={read.map(([, word]) => word).join('/')} {...Object.fromEntries(read)} />;
}

/** A page that comes when it is wanted, or what kept it from coming. */
function Shown({ children }: { readonly children: ComponentChildren }) {
  const [location] = useLocation();
  return (
    <Boundary what="the page" at={location}>
      <Suspense fallback={<Loading what="the page" />}>{children}</Suspense>
    </Boundary>
  );
}

const app = document.getElementById('app');
if (app !== null) render(<Pages />, app);
