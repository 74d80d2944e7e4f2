import { createRequire } from 'node:module';
import type * as AjvPackage from 'ajv';
import type * as Ajv2020Package from 'ajv/dist/2020.js';
import type Handlebars from 'handlebars';
import type Jsonata from 'jsonata';
import type * as PiscinaPackage from 'piscina';
import type * as Re2Package from 're2js';

/**
 * Packages that most commands, threads and processes never need, and that take up to 50 ms of the
 * processor to load: each is loaded when it is first asked for.
 */
export const loadAjv = late<typeof AjvPackage>('ajv');
export const loadAjv2020 = late<typeof Ajv2020Package>('ajv/dist/2020.js');
export const loadHandlebars = late<typeof Handlebars>('handlebars');
export const loadJsonata = late<typeof Jsonata>('jsonata');
export const loadPiscina = late<typeof PiscinaPackage>('piscina');
export const loadRe2 = late<typeof Re2Package>('re2js');

function late<Package>(name: string): () => Package {
  let loaded: Package | undefined;
  return () => (loaded ??= createRequire(import.meta.url)(name) as Package);
}
