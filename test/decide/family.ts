import { abandoned, cancelOf } from '../../src/decide/finish/abandoned.js';
import type { Child } from '../../src/decide/world.js';
import type { GivenUp } from '../../src/decide/intent.js';
import { isMadeBy } from '../../src/reading/parent.js';
import { bigResult } from '../../src/engine/attachments/large-results.js';
import { isFinal, isLiveJob, type FinalJob, type Job } from '../../src/model/job.js';
import { isLive, isOpen } from '../../src/model/step.js';
import { parseDocument } from '../../src/reading/parse.js';
import type { StoredDocument } from '../../src/model/document.js';
import type { WrittenNode } from '../../src/structures/kind.js';
import { frozen } from '../support/builders.js';
import { story, type Setting, type Story } from './story.js';

/** How an attempt at a path ends: its result, or the name of the failure. */
export type End = { readonly result?: unknown } | { readonly failure: string };

/** A job with its child jobs, all worked on by one engine; documents are read as they are stored. */
export class Family {
  readonly #stories = new Map<string, Story>();
  readonly #setting: Setting;
  /** Ids of the jobs that are there, the parent first, each when it was made. */
  readonly made: string[] = [];
  /** Ids of the jobs that their parent gave up. */
  readonly given: string[] = [];

  constructor(steps: WrittenNode[], setting: Partial<Setting> = {}) {
    this.#setting = { steps, ...setting, world: { freeSlots: 1000, ...setting.world } };
    this.#stories.set('j', story(this.#setting));
    this.made.push('j');
    this.go();
  }

  /** Everything is decided until nothing changes any more. */
  go(): this {
    let rounds = 0;
    for (let before = -1; before !== this.#revisions(); rounds += 1) {
      if (rounds > 50) throw new Error('The jobs come to no rest.');
      before = this.#revisions();
      for (const told of [...this.#stories.values()]) {
        const earlier = told.job;
        this.#take(told.with(this.#around()).stopped());
        this.#giveUp(abandoned(earlier, told.job));
      }
    }
    return this;
  }

  #revisions(): number {
    return [...this.#stories.values()].reduce((sum, { revisions }) => sum + revisions, 0);
  }

  #giveUp(children: readonly GivenUp[]): void {
    for (const given of children) {
      const { child } = given;
      this.given.push(child);
      const cancel = cancelOf(given, this.#stories.get(child)?.job);
      if (cancel.kind === 'request') this.story(child).edit({ cancel: true });
      if (cancel.kind === 'child') this.store(cancel.doc as StoredDocument);
    }
  }

  /** Children that the last decision made, or asked to go on. */
  #take(told: Story): void {
    const { children } = told;
    told.children = [];
    for (const child of children) {
      const { _attachments, ...doc } = child as StoredDocument;
      const stored = JSON.parse(JSON.stringify(doc)) as StoredDocument;
      // A large result can be read until its document is stored.
      this.store(_attachments === undefined ? stored : { ...stored, _attachments });
    }
  }

  /** Stores a job document; one that is there is only changed by who knows it. */
  store(doc: StoredDocument): this {
    const there = this.#stories.get(doc._id);
    if (there !== undefined && doc._rev === undefined) return this;
    const parsed = parseDocument({ ...doc, _rev: doc._rev ?? '1-new' });
    if (parsed.kind !== 'job' || !parsed.ok) throw new Error(JSON.stringify(parsed));
    const told = there ?? story(this.#setting);
    told.job = frozen(parsed.value);
    told.revisions += 1;
    this.#stories.set(doc._id, told);
    if (there === undefined) this.made.push(doc._id);
    return this;
  }

  /** A job document gets lost. */
  lose(id: string): this {
    this.#stories.delete(id);
    return this;
  }

  #around(): { children: Record<string, Child> } {
    const children: Record<string, Child> = {};
    for (const { job } of this.#stories.values()) {
      for (const step of 'steps' in job ? (job.steps ?? []) : []) {
        if ('child' in step) children[String(step.child)] = this.#child(String(step.child), job);
      }
    }
    return { children };
  }

  #child(id: string, parent: Job): Child {
    const job = this.#stories.get(id)?.job;
    if (job === undefined) return { kind: 'absent' };
    if (!isMadeBy(job, parent)) return { kind: 'foreign' };
    if (!isFinal(job)) return { kind: 'live' };
    const big = bigResult(job.result);
    return { kind: 'final', job, ...(big === undefined ? {} : { big }) };
  }

  story(id = 'j'): Story {
    const told = this.#stories.get(id);
    if (told === undefined) throw new Error(`There is no job ${id}, but ${this.made.join(', ')}.`);
    return told;
  }

  job(id = 'j'): Job & FinalJob {
    return this.story(id).job as Job & FinalJob;
  }

  /** Jobs that have not ended. */
  get live(): readonly string[] {
    return [...this.#stories].flatMap(([id, { job }]) => (isLiveJob(job) ? [id] : []));
  }

  /** Paths of the attempts that run, over all jobs. */
  get running(): readonly string[] {
    return [...this.#stories.values()].flatMap(({ steps }) =>
      steps.filter(isLive).map(({ path }) => path),
    );
  }

  /** Paths of what runs or waits in a job. */
  open(id = 'j'): readonly string[] {
    return this.story(id)
      .steps.filter(isOpen)
      .map(({ path }) => path);
  }

  /** Ends the running attempt at a path, wherever it runs. */
  end(path: string, end: End = {}): this {
    const told = [...this.#stories.values()].find(({ steps }) =>
      steps.some((step) => isLive(step) && step.path === path),
    );
    if (told === undefined) throw new Error(`Nothing runs at ${path}, but ${this.running.join()}.`);
    const before = told.with(this.#around()).job;
    if ('failure' in end) told.broke(path, end.failure);
    else told.did(path, end.result);
    this.#take(told);
    this.#giveUp(abandoned(before, told.job));
    return this.go();
  }

  /** Ends all running attempts as `ends` says by path, until nothing runs any more. */
  endAll(ends: (path: string) => End = () => ({})): this {
    let ended = 0;
    for (let [path] = this.running; path !== undefined; [path] = this.running) {
      if (ended > 500) throw new Error('The jobs come to no end.');
      this.end(path, ends(path));
      ended += 1;
    }
    return this;
  }

  /** Changes a job as a user does. */
  edit(change: Readonly<Record<string, unknown>>, id = 'j'): this {
    this.story(id).edit(change);
    return this.go();
  }
}

/** A family that has just begun. */
export function family(steps: WrittenNode[], setting: Partial<Setting> = {}): Family {
  return new Family(steps, setting);
}
