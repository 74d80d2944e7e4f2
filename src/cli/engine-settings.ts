import { z } from 'zod';
import { settingsFileSchema } from '../config/file.js';
import { flagValue } from '../config/flags.js';
import type { Config } from '../config/load.js';
import { engineSettings, flagName, settings, type EngineSetting } from '../config/table.js';

/** The flags of the settings that an engine is started with; tws.json says what their values may be. */
export const engineFlags = Object.fromEntries(
  engineSettings.map((name) => [name, flagOf(name)]),
) as Readonly<Record<EngineSetting, z.ZodOptional>>;

function flagOf(name: EngineSetting): z.ZodOptional {
  return z
    .string()
    .transform((text): unknown => flagValue(settings[name], text))
    .pipe(settingsFileSchema.shape[name] as z.ZodType<unknown, unknown>)
    .optional();
}

/** The arguments that start an engine with the settings of `config`. */
export function engineArguments(config: Config): readonly string[] {
  return engineSettings.flatMap((name) => {
    const text = [config[name] ?? []].flat().join(',');
    return text === '' ? [] : [flagName(settings[name]), text];
  });
}
