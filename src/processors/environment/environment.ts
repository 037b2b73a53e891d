/**
 * The `environment` processor: which environment each resource block belongs to, and whether the key may write it. The
 * first non-blank text of `deployment.environment.name` and `deployment.environment`, trimmed and lower-cased, else the
 * default.
 */
import { defineProcessor, type Processor } from '../../component/processor.ts';
import { Rejection } from '../../errors.ts';
import type { Batch } from '../../pdata/batch.ts';
import {
  canNameEnvironment,
  ENVIRONMENT_HINT,
  LONGEST_ENVIRONMENT,
  environmentNamed,
} from '../../pdata/environment.ts';
import type { Steps } from '../../pdata/steps.ts';
import { piecesOf } from '../../pdata/text.ts';
import { KIND_TEXT, SYMBOL_ENVIRONMENT, SYMBOL_ENVIRONMENT_NAME } from '../../pdata/layout.ts';

export interface EnvironmentOptions {
  readonly default: string;
}

/** Resources handled in one step. */
const STEP = 256;

class Environment implements Processor {
  readonly #default: string;

  constructor(options: EnvironmentOptions) {
    this.#default = environmentNamed(options.default);
  }

  *process(batch: Batch): Steps {
    const scope = batch.context.credential.environment;
    for (let resource = 0; resource < batch.resourceCount; resource++) {
      if (resource % STEP === STEP - 1) yield;
      const environment = yield* this.#resolve(batch, resource);
      if (scope !== null && scope !== environment)
        throw new Rejection('environment_mismatch', { expected: scope, received: environment });
      const text = batch.tables.scratch(environment);
      if (text === null) throw new Rejection('body_too_large', { hint: 'too many resources' });
      batch.setEnvironment(resource, text);
    }
  }

  *#resolve(batch: Batch, resource: number): Steps<string> {
    let nameRow = -1;
    let olderRow = -1;
    const attributes = batch.resourceAttributes(resource);
    while (attributes.next()) {
      if (attributes.kind !== KIND_TEXT) continue;
      if (attributes.symbol === SYMBOL_ENVIRONMENT_NAME) nameRow = attributes.row;
      else if (attributes.symbol === SYMBOL_ENVIRONMENT) olderRow = attributes.row;
    }
    return (yield* environmentAt(batch, nameRow)) || (yield* environmentAt(batch, olderRow)) || this.#default;
  }
}

/** The normalized text of a row; empty when the row is missing or blank. */
function* environmentAt(batch: Batch, row: number): Steps<string> {
  if (row < 0) return '';
  const { offset, length, flags } = batch.cursor().goto(row);
  let text = '';
  // An environment is cut, so the rest of a long text is not read.
  for (const piece of piecesOf(batch.tables.memory, offset, length, flags)) {
    text = (text.slice(0, LONGEST_ENVIRONMENT) + piece).trimStart();
    if (text.trimEnd().length > LONGEST_ENVIRONMENT) break;
    yield;
  }
  return environmentNamed(text);
}

export const environment = defineProcessor<EnvironmentOptions>({
  type: 'environment',
  summary: 'Finds the environment of each resource and refuses what the key may not write.',
  stability: 'beta',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      default: {
        type: 'string',
        minLength: 1,
        maxLength: LONGEST_ENVIRONMENT,
        default: 'default',
        description: 'The environment of resources that name none.',
      },
    },
  },
  example: 'default: default',
  check: ({ default: name }) =>
    canNameEnvironment(name)
      ? []
      : [
          {
            option: ['default'],
            severity: 'error',
            message: 'default cannot be an environment',
            hint: ENVIRONMENT_HINT,
          },
        ],
  requires: ['project'],
  provides: ['environment'],
  create: (options) => new Environment(options),
});
