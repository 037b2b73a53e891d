/**
 * Compiled option schemas. Compiling takes longer than the rest of loading a configuration. Each schema is therefore
 * compiled once, and a caller that loads repeatedly keeps this object.
 */
import { Ajv, type ValidateFunction } from 'ajv';
import type { OptionsSchema } from '../component/component.ts';
import { FORMATS, measure, type Schema } from './schema.ts';
import { writtenForm } from './written-form.ts';

export interface CompiledSchema {
  /** In written form: durations as `5s`, sizes as `4MiB`. */
  readonly written: OptionsSchema;
  /** Fills in defaults. */
  readonly check: ValidateFunction;
}

export class CompiledSchemas {
  readonly #compiler = makeCompiler();
  readonly #compiled = new WeakMap<OptionsSchema, CompiledSchema>();

  /** Throws when the schema itself is invalid, which is a fault of the component. */
  of(schema: OptionsSchema): CompiledSchema {
    const known = this.#compiled.get(schema);
    if (known !== undefined) return known;
    const written = writtenForm(schema);
    const compiled = { written, check: this.#compiler.compile(written) };
    this.#compiled.set(schema, compiled);
    return compiled;
  }
}

function makeCompiler(): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    useDefaults: true,
    allowUnionTypes: true,
    strictTypes: false,
    strictRequired: false,
    allowMatchingProperties: true,
    // Components of different authors may use the same $id.
    addUsedSchema: false,
    // A check runs once or twice. Optimizing its code took a third of the compile time.
    code: { optimize: false },
    formats: { ...FORMATS },
  });
  ajv.addKeyword({ keyword: 'secret', schemaType: 'boolean' });
  ajv.addKeyword(bound('atLeast', (value, limit) => value >= limit));
  ajv.addKeyword(bound('atMost', (value, limit) => value <= limit));
  return ajv;
}

function bound(keyword: string, holds: (value: number, limit: number) => boolean) {
  return {
    keyword,
    schemaType: ['string', 'number'] as ('string' | 'number')[],
    errors: false,
    validate: (limit: string | number, value: unknown, parent?: Schema): boolean => {
      const actual = measure(value, parent?.['format']);
      const wanted = typeof limit === 'number' ? limit : measure(limit, parent?.['format']);
      return actual === null || wanted === null || holds(actual, wanted);
    },
  };
}
