import { runInNewContext } from 'node:vm';

/** A function of the design document, with what CouchDB gives it as globals (`emit`). */
export function compileDesign<F>(text: string, globals: object = {}): F {
  return runInNewContext(`(${text})`, globals) as F;
}
