import { Link } from 'wouter-preact';
import { PageHead } from '../parts/page-head.js';

/** An address that leads nowhere. */
export function NotFound() {
  return (
    <>
      <PageHead title="Nothing here" />
      <p>
        There is no such page. <Link href="/">Go to the overview</Link>, or look for a job among{' '}
        <Link href="/jobs">all jobs</Link>.
      </p>
    </>
  );
}
