import type { SchemaObject } from './schemas.js';

/** An OpenAPI 3.1 document, as far as it is read here. */
export type OpenApi = {
  readonly openapi: string;
  readonly info: SchemaObject;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, SchemaObject>> } & SchemaObject;
} & SchemaObject;

/** One operation of an OpenAPI document: a method of a path. */
export type Operation = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly SchemaObject[];
  readonly requestBody?: SchemaObject;
  readonly responses: Readonly<Record<string, SchemaObject>>;
} & SchemaObject;
