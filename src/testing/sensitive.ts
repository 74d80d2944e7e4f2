import type { SensitiveValues } from '../engine/attempts/open-sensitive.js';
import { readSensitive, sensitiveNamesIn } from '../model/sensitive.js';

/** Sensitive values of a test, by name. */
export type TestValues = Readonly<Record<string, string>>;

/** The subject of jobs of a test that name none. */
export const testSubject = `s-${'T'.repeat(43)}`;

/** Opens the values of a test, whatever the subject. */
export function testSensitive(values: TestValues): SensitiveValues {
  const valueOf = (name: string): string | undefined =>
    Object.hasOwn(values, name) ? values[name] : undefined;
  return {
    open: async (_of, name) => valueOf(name),
    read: async ({ names }) => {
      const entries = names.map((name) => [name, valueOf(name)] as const);
      return Object.fromEntries(entries.filter((entry) => entry[1] !== undefined)) as TestValues;
    },
  };
}

/** Whether a parameter needs a sensitive value that the test does not give. */
export function lacksSensitive(value: unknown, given: TestValues): boolean {
  const name = readSensitive(value);
  const names = name === undefined ? sensitiveNamesIn(value) : [name];
  return names?.some((one) => !Object.hasOwn(given, one)) === true;
}
