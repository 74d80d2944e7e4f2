import type { Store } from '../store/store.js';
import type { Forms } from './inbox.js';

/** The part of the client about forms; the rules of the engines are loaded when they are needed. */
export function formsWith(store: Store): Forms {
  const rules = () => import('./inbox.js');
  return {
    inbox: async (query) => (await rules()).listInbox(store, query),
    forms: async (doc) => (await rules()).formsToAnswer(store, doc),
    answerForm: async (answer) => (await rules()).sendFormAnswer(store, answer),
  };
}
