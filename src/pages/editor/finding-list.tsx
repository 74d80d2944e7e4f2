import type { EditorFinding } from './marks.js';

type Props = {
  readonly findings: readonly EditorFinding[];
  /** false: the document is being looked at. */
  readonly settled: boolean;
  readonly goTo: (finding: EditorFinding) => void;
};

/** What was found in the text, for everybody who does not see the marks in it; each leads to its place. */
export function FindingList({ findings, settled, goTo }: Props) {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  return (
    <div class="findings">
      <p class={errors > 0 ? 'finding-count bad' : 'finding-count'} role="status">
        {countText(findings.length, errors, settled)}
      </p>
      {findings.length > 0 && (
        <ul>
          {findings.map((finding) => (
            <li key={`${finding.from} ${finding.message}`} class={finding.severity}>
              <button type="button" class="quiet" onClick={() => goTo(finding)}>
                <span class="unseen">{finding.severity}: </span>
                {finding.message}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function countText(all: number, errors: number, settled: boolean): string {
  if (all === 0) return settled ? 'Nothing is wrong with it.' : 'Checking …';
  const parts = [
    ...(errors === 0 ? [] : [errors === 1 ? '1 problem' : `${errors} problems`]),
    ...(all === errors ? [] : [all - errors === 1 ? '1 warning' : `${all - errors} warnings`]),
  ];
  return `${parts.join(', ')}.`;
}
