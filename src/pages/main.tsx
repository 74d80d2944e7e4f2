import { render, type ComponentChildren } from 'preact';
import { lazy, Suspense } from 'preact/compat';
import { Route, Router, Switch, useLocation } from 'wouter-preact';
import { Layout } from './layout/layout.js';
import { Boundary } from './parts/boundary.js';
import { Loading } from './parts/loading.js';
import { percentDecoded } from '../model/percent.js';
import { NotFound } from './layout/not-found.js';
import { SignInGate } from './session/sign-in-gate.js';

/** Where the pages are; routes and links are below it. */
const base = '/_tws/admin';

const Overview = lazy(() => import('./overview/overview.js').then((page) => page.OverviewPage));
const Jobs = lazy(() => import('./jobs/jobs.js').then((page) => page.JobsPage));
const Job = lazy(() => import('./job/job.js').then((page) => page.JobPage));
const Inbox = lazy(() => import('./inbox/inbox.js').then((page) => page.InboxPage));
const Flows = lazy(() => import('./definitions/flows.js').then((page) => page.FlowsPage));
const Flow = lazy(() => import('./definitions/flow.js').then((page) => page.FlowPage));
const Tasks = lazy(() => import('./definitions/tasks.js').then((page) => page.TasksPage));
const Task = lazy(() => import('./definitions/task.js').then((page) => page.TaskPage));
const Schedules = lazy(() => import('./schedules/schedules.js').then((page) => page.SchedulesPage));
const Schedule = lazy(() => import('./schedules/schedule.js').then((page) => page.SchedulePage));
const Hooks = lazy(() => import('./hooks/hooks.js').then((page) => page.HooksPage));
const Hook = lazy(() => import('./hooks/hook.js').then((page) => page.HookPage));
const NotifyLists = lazy(() => import('./notify/lists.js').then((page) => page.NotifyListsPage));
const NotifyList = lazy(() => import('./notify/list.js').then((page) => page.NotifyListPage));
const Archive = lazy(() => import('./archive/archive.js').then((page) => page.ArchivePage));
const ArchivedJob = lazy(() =>
  import('./archive/archived-job.js').then((page) => page.ArchivedJobPage),
);
const Submit = lazy(() => import('./form/submit.js').then((page) => page.SubmitPage));
const Engines = lazy(() => import('./engines/engines.js').then((page) => page.EnginesPage));

function Pages() {
  return (
    <Router base={base}>
      <Layout>
        <SignInGate>
          <Shown>
            <Switch>
              <Route path="/" component={Overview} />
              <Route path="/jobs" component={Jobs} />
              <Route path="/jobs/:id">{({ id }) => <Job key={id} id={percentDecoded(id)} />}</Route>
              <Route path="/inbox" component={Inbox} />
              <Route path="/flows" component={Flows} />
              <Route path="/flows/:name">
                {({ name }) => <Flow key={name} name={percentDecoded(name)} />}
              </Route>
              <Route path="/tasks" component={Tasks} />
              <Route path="/tasks/:name">
                {({ name }) => <Task key={name} name={percentDecoded(name)} />}
              </Route>
              <Route path="/schedules" component={Schedules} />
              <Route path="/schedules/:name">
                {({ name }) => <Schedule key={name} name={percentDecoded(name)} />}
              </Route>
              <Route path="/hooks" component={Hooks} />
              <Route path="/hooks/:name">
                {({ name }) => <Hook key={name} name={percentDecoded(name)} />}
              </Route>
              <Route path="/notify" component={NotifyLists} />
              <Route path="/notify/:name">
                {({ name }) => <NotifyList key={name} name={percentDecoded(name)} />}
              </Route>
              <Route path="/submit/:flow">
                {({ flow }) => <Submit key={flow} flow={percentDecoded(flow)} />}
              </Route>
              <Route path="/archive" component={Archive} />
              <Route path="/archive/:id">
                {({ id }) => <ArchivedJob key={id} id={percentDecoded(id)} />}
              </Route>
              <Route path="/engines" component={Engines} />
              <Route component={NotFound} />
            </Switch>
          </Shown>
        </SignInGate>
      </Layout>
    </Router>
  );
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
