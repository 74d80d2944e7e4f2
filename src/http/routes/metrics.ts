import { problem } from '../../errors.js';
import { assertAllOwners } from '../access/owners.js';
import { route, type Route } from '../route.js';
import { known } from './common.js';

/** Text of Prometheus, at `/_tws/metrics` and where it looks by itself. */
export const metricsRoutes: readonly Route[] = [false, true].map((atRoot) =>
  route({
    method: 'GET',
    path: '/metrics',
    atRoot,
    id: atRoot ? 'getMetrics' : 'getTwsMetrics',
    tag: 'operation',
    summary: 'Figures of this process and of all jobs, as Prometheus reads them.',
    access: 'viewer',
    answers: { 200: { description: 'The figures.', type: 'text/plain' } },
    problems: ['owners_needed'],
    handle: async ({ api, principal }) => {
      assertAllOwners(known({ principal }), 'read figures of all jobs');
      if (api.metrics === undefined) throw problem('not_ready', { reason: 'it keeps no figures.' });
      const { contentType: type, render } = api.metrics;
      return { status: 200, type, body: await render() };
    },
  }),
);
