import '../definitions/definitions.css';
import { PageHead } from '../parts/page-head.js';
import { ArchivedJobs } from './archived-jobs.js';
import { Retention } from './retention.js';

/** The page of what is kept, and of the jobs that were archived. */
export function ArchivePage() {
  return (
    <>
      <PageHead title="Retention and archive" />
      <Retention />
      <ArchivedJobs />
    </>
  );
}
