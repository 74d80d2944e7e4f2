import { Component, type ComponentChildren } from 'preact';

type Props = {
  /** What is shown, in words: `the page`. */
  readonly what: string;
  /** Where the person is: what failed there is tried again elsewhere. */
  readonly at?: string;
  readonly children: ComponentChildren;
};
type State = { readonly failed: { readonly error: unknown } | undefined };

/**
 * Shows what went wrong in the place of what could not be loaded or shown; everything around it goes
 * on. A part that a browser could not load it does not ask for again, so the page is loaded again.
 */
export class Boundary extends Component<Props, State> {
  override state: State = { failed: undefined };

  static override getDerivedStateFromError(error: unknown): State {
    return { failed: { error } };
  }

  override componentDidUpdate({ at }: Props): void {
    if (at !== this.props.at && this.state.failed !== undefined)
      this.setState({ failed: undefined });
  }

  override render({ what, children }: Props, { failed }: State) {
    if (failed === undefined) return <>{children}</>;
    const { error } = failed;
    const reason = error instanceof Error ? error.message : String(error);
    return (
      <div class="box problem" role="alert">
        <p>
          <strong>This is missing: {what} could not be loaded or shown.</strong>
        </p>
        <p>{reason}</p>
        <p>Load it again; if that does not help, look whether the server still runs.</p>
        <button type="button" onClick={() => location.reload()}>
          Load again
        </button>
      </div>
    );
  }
}
