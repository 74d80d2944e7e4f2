import { describe, expect, it } from 'vitest';
import { linksOf } from '../../src/http/page-links.js';

const manifest = {
  'jobs/jobs.tsx': { file: 'assets/jobs-1.js', imports: ['_shared.js', 'index.html'] },
  'job/job.tsx': { file: 'assets/job-1.js', imports: ['_shared.js'] },
  '_shared.js': { file: 'assets/shared-1.js', imports: ['index.html'] },
  '_tasks.js': { file: 'assets/tasks-1.js', name: 'tasks' },
  'index.html': { file: 'assets/index-1.js', imports: ['_shared.js'] },
};
const script = (name: string): string => `</admin/assets/${name}-1.js>; rel=modulepreload`;
const list = '</_tws/jobs?limit=100>; rel=preload; as=fetch; crossorigin';

describe('The links of a page', () => {
  it.each([
    ['jobs', [script('jobs'), script('shared'), script('index'), list]],
    ['jobs/', [script('jobs'), script('shared'), script('index'), list]],
    ['jobs?status=failed', [script('jobs'), script('shared'), script('index')]],
    ['jobs/order-7', [script('job'), script('shared'), script('index')]],
    ['tasks', [script('tasks')]],
    ['jobs/a%2Fb', [script('job'), script('shared'), script('index')]],
  ])('of %s name its scripts and what it reads first', (path, links) => {
    expect(linksOf(manifest, '/admin', path)).toBe(links.join(', '));
  });

  it.each(['nowhere', 'jobs/1/2', 'engines'])('of %s are none', (path) => {
    expect(linksOf(manifest, '/admin', path)).toBeUndefined();
  });
});
