import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

type Props = {
  /** Heading, and title of the document. */
  readonly title: string;
  /** Buttons and the like, beside the heading. */
  readonly children?: ComponentChildren;
};

/** The heading of a page. */
export function PageHead({ title, children }: Props) {
  useEffect(() => {
    document.title = `${title} · TWS`;
  }, [title]);
  return (
    <div class="page-head">
      <h1>{title}</h1>
      {children}
    </div>
  );
}
