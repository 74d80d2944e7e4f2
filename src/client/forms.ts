import type { Store } from '../store/store.js';
import type { StoredDocument } from '../model/document.js';
import type { OpenForm } from '../reading/open-forms.js';
import type { FormAnswer, FormAnswerSent, Inbox, InboxQuery } from './inbox.js';
import type { LinkAnswered, LinkedForm, LinkGiven } from './link-answers.js';

/** The part of the client about forms; the rules of the engines are loaded when they are needed. */
export function formsWith(store: Store): Forms {
  const rules = () => import('./inbox.js');
  const links = () => import('./link-answers.js');
  return {
    inbox: async (query) => (await rules()).listInbox(store, query),
    forms: async (doc) => (await rules()).formsToAnswer(store, doc),
    answerForm: async (answer) => (await rules()).sendFormAnswer(store, answer),
    linkedForm: async (given) => (await links()).linkedForm(store, given),
    answerByLink: async (given, answerOf) => (await links()).sendLinkAnswer(store, given, answerOf),
  };
}

/** The part of the client about forms. */
export type Forms = {
  /** The forms that wait for an answer, by when they are due. */
  readonly inbox: (query: InboxQuery) => Promise<Inbox>;
  /** Those of one job, as it is stored, or of the one as which it goes on. */
  readonly forms: (doc: StoredDocument) => Promise<readonly OpenForm[]>;
  /** Answers a form. @throws as `sendFormAnswer` */
  readonly answerForm: (answer: FormAnswer) => Promise<FormAnswerSent>;
  /** The form that a link opens; undefined: the link is wrong, used or too old. */
  readonly linkedForm: (given: LinkGiven) => Promise<LinkedForm | undefined>;
  /** Answers the form that a link opens. */
  readonly answerByLink: (
    given: LinkGiven,
    answerOf: (form: OpenForm) => unknown,
  ) => Promise<LinkAnswered>;
};
