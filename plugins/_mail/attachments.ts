import { basename } from 'node:path';
import { readProjectFile } from '../../src/plugin/index.js';

/** One attachment: its `content`, or the `path` of a file (relative paths inside the project). */
export type Attachment = {
  readonly filename?: string;
  readonly content?: string;
  readonly path?: string;
  readonly content_type?: string;
  /** How `content` is written; `utf8` when absent. */
  readonly encoding?: string;
  /** For pictures that the HTML shows as `cid:…`. */
  readonly cid?: string;
};

/** The same with contents read; a mere text is a path. */
export function toAttachments(given: readonly (string | Attachment)[], cwd: string) {
  return Promise.all(
    given.map(async (one) => {
      const attachment: Attachment = typeof one === 'string' ? { path: one } : one;
      const { path, content = '', encoding, content_type: contentType, cid } = attachment;
      const filename = attachment.filename ?? (path === undefined ? undefined : basename(path));
      return {
        content: path === undefined ? content : await readProjectFile(cwd, path),
        ...(filename === undefined ? {} : { filename }),
        ...(contentType === undefined ? {} : { contentType }),
        ...(encoding === undefined || path !== undefined ? {} : { encoding }),
        ...(cid === undefined ? {} : { cid }),
      };
    }),
  );
}
