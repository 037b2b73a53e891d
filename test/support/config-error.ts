/** Mistakes in configurations of the shipped components. */
import { COMPONENTS } from '../../src/components.ts';
import { CompiledSchemas } from '../../src/config/compiled-schemas.ts';
import { ConfigError } from '../../src/config/diagnostics.ts';
import { loadConfig } from '../../src/config/load.ts';

const SCHEMAS = new CompiledSchemas();

/** The message about the configuration, each mistake at its place in `config.yaml`; empty when it is accepted. */
export async function mistakesOf(text: string): Promise<string> {
  try {
    await loadConfig({
      files: ['config.yaml'],
      definitions: COMPONENTS,
      environment: {},
      workingDirectory: '/',
      schemas: SCHEMAS,
      read: (name) => ({ name, text }),
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message;
  }
  return '';
}
