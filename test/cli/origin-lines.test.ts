import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { admin, couchUrl, request } from '../support/couch.js';
import { callAll } from './executable.js';
import { project } from './terminal.js';

/** The files of a project as TIBET's TWS has them: no ids, one structure, parameters by position. */
const files = {
  'couch/tws/tasks/mail.json': {
    ...{ type: 'task', name: 'mail', plugin: 'noop', timeout: 15000, retry: 2 },
    params: { transport: { host: 'localhost' } },
  },
  'couch/tws/tasks/_draft.json': { type: 'task', name: 'draft' },
  'couch/tws/flows/mailtest.json': {
    ...{ type: 'flow', name: 'mailtest', owner: 'DEFAULT' },
    tasks: { structure: 'sequence', sequence: ['mail'] },
  },
  'couch/tws/jobs/mailtest.json': {
    ...{ type: 'job', flow: 'mailtest', owner: 'DEFAULT' },
    params: { tasks: { sequence: [{ name: 'mail', params: { to: 'you@example.com' } }] } },
  },
};

describe('the command lines of the original', () => {
  // Shows L-02, L-03.
  it('run as they are printed there', async () => {
    const database = `tws-test-${randomUUID()}`;
    const { user, password } = admin();
    const url = new URL(couchUrl());
    const settings = { url: `http://${user}:${password}@${url.host}`, database };
    const cwd = await project({ ...files, 'tws.json': settings });
    onTestFinished(async () => void (await request('DELETE', `/${database}`)));
    const lines: readonly (readonly [string, RegExp])[] = [
      ['init --no-confirm', /^inserting: _design\/tws tasks$[^]*^TWS initialized$/m],
      ['push --map --no-confirm', /^skipping: .*_draft\.json[^]*inserting: .*mail\.json/m],
      ['push --map --no-confirm', /already up to date/],
      ['push ~tws/tasks/mail.json', /already up to date/],
      ['push --tasks', /already up to date/],
      ['push --flows', /already up to date/],
      ['push --design', /unchanged|up to date/],
      ['push --jobs', /couch\/tws\/jobs\/mailtest\.json/],
      ['list --tasks', /^mail => noop \(task:DEFAULT:mail\)$/m],
      ['list --flows', /^mailtest::DEFAULT => \["mail"\] \(\S+\)$/m],
      ['list --jobs', /^mailtest::DEFAULT {2}queued/m],
      ['list --views', /^flows => _design\/tws$/m],
      ['list --tasks --verbose', /"retry": 2/],
      ['list --views --verbose', /"map": "function/],
      ['validate', /valid|nothing|no problem/i],
      ['view mailtest --flow', /"structure": "sequence"/],
      ['submit ~tws/jobs/mailtest.json --id j1', /submitted: j1/],
      ['cancel j1', /j1/],
      ['disable mailtest', /disabled/],
      ['enable mailtest', /enabled/],
      ['remove task:DEFAULT:mail --no-confirm', /removed/],
    ];
    const said = await callAll(
      lines.map(([line]) => line.split(' ')),
      { cwd },
    );
    for (const [i, [line, wanted]] of lines.entries()) expect(said[i], line).toMatch(wanted);
    const text = await readFile(join(cwd, 'couch/tws/tasks/mail.json'), 'utf8');
    expect(JSON.parse(text)).toMatchObject({ _id: expect.stringMatching(/\S/) as string });
  });
});
