/**
 * The `privacy` processor: drops content where it may not be stored, drops credentials everywhere, and replaces what
 * the configured rules find. It runs before values are read into derived columns, so no dropped value reaches them.
 */
import type { Capabilities } from '../../component/capabilities/capability.ts';
import { ownDialects } from '../../component/capabilities/own-dialects.ts';
import type { Host } from '../../component/component.ts';
import type { Counter } from '../../component/meter.ts';
import { defineProcessor, type Processor } from '../../component/processor.ts';
import { booleanOption } from '../../component/option-schema.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { Tables } from '../../pdata/tables.ts';
import type { Batch } from '../../pdata/batch.ts';
import type { Context, RequestInfo } from '../../pdata/context.ts';
import { finish, type Steps } from '../../pdata/steps.ts';
import { captureFaults, type CaptureOptions, CaptureSettings, storedSettings } from './capture.ts';
import { ContentLists, SymbolPolicies } from './content-policy.ts';
import { ContentRemoval, dropCredentials } from './content-removal.ts';
import { BatchRedaction } from './redaction/batch-redaction.ts';
import { Hints } from './redaction/hints.ts';
import { PRESET_NAMES } from './redaction/presets.ts';
import { compileRules, MAX_PATTERN_LENGTH, MAX_RULES, type RedactOption } from './redaction/rules.ts';

export interface PrivacyOptions extends CaptureOptions {
  readonly redact: readonly RedactOption[];
}

/** Resources handled in one step. */
const STEP = 256;

/** Milliseconds of processor time; of the clock where the host cannot tell. */
function processorMsOf(host: Host): number {
  const usage = host.process.cpuUsage?.();
  return usage === undefined ? performance.now() : (usage.user + usage.system) / 1000;
}

class Privacy implements Processor {
  readonly #capture: CaptureSettings;
  readonly #capabilities: Capabilities;
  readonly #pipeline: string | undefined;
  #lists: ContentLists | null = null;
  readonly #hints: Hints | null;
  readonly #replaced: Counter;
  readonly #policies = new WeakMap<Tables, SymbolPolicies>();
  readonly #redactions = new WeakMap<Tables, BatchRedaction>();

  constructor(options: PrivacyOptions, host: Host) {
    this.#capture = new CaptureSettings(options, `processors.${host.id}.environments`);
    this.#capabilities = host.capabilities;
    this.#pipeline = host.pipeline;
    const redactor = compileRules(options.redact, `processors.${host.id}.redact`, () => processorMsOf(host));
    this.#hints = redactor === null ? null : new Hints(redactor);
    this.#replaced = host.meter.counter('sluice_redactions', 'Texts replaced by the rules of the privacy processor.');
  }

  prepare(tables: Tables): void {
    finish(this.#policiesFor(tables).update());
  }

  /** Settings that cannot be read refuse the request before its body is read. */
  admit(_request: RequestInfo, context: Context): void {
    storedSettings(context.project);
  }

  *process(batch: Batch): Steps {
    const policies = this.#policiesFor(batch.tables);
    yield* policies.update();
    yield* dropCredentials(batch, policies);
    const capturesAll = yield* this.#decide(batch);
    if (!capturesAll) yield* new ContentRemoval(batch, this.#contentLists(), policies).run();
    if (this.#hints !== null) yield* this.#redact(batch, this.#hints);
  }

  /** Runs after content removal, because a replacement could hide a sign of a dialect. */
  *#redact(batch: Batch, hints: Hints): Steps {
    const redaction = this.#redactions.get(batch.tables) ?? new BatchRedaction(hints, batch.tables);
    this.#redactions.set(batch.tables, redaction);
    yield* redaction.run(batch);
    hints.redactor.takeCounts((rule, count) => this.#replaced.add(count, { rule: rule.name }));
  }

  /** Writes the decision beside each resource; true when the content of all of them may be stored. */
  *#decide(batch: Batch): Steps<boolean> {
    const { project } = batch.context;
    const always = this.#capture.isAlwaysOn(project);
    let all = true;
    for (let resource = 0; resource < batch.resourceCount; resource++) {
      if (resource % STEP === STEP - 1) yield;
      const captures = always || this.#capture.captures(project, batch.environmentOf(resource));
      batch.setCapture(resource, captures);
      all &&= captures;
    }
    return all;
  }

  /** Made at first use: the dialects of the configuration are known once all components of the pipeline exist. */
  #contentLists(): ContentLists {
    this.#lists ??= new ContentLists(this.#capabilities.find(ownDialects<Dialect>(this.#pipeline)));
    return this.#lists;
  }

  #policiesFor(tables: Tables): SymbolPolicies {
    const policies = this.#policies.get(tables) ?? new SymbolPolicies(this.#contentLists(), tables);
    this.#policies.set(tables, policies);
    return policies;
  }
}

const RULE_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    preset: { enum: PRESET_NAMES, description: 'A built-in rule for a common kind of secret or personal data.' },
    name: {
      type: 'string',
      pattern: '^[a-z][a-z0-9_]{0,62}$',
      description: 'The name of your own pattern: a label in metrics and, in brackets, the default replacement.',
    },
    pattern: {
      type: 'string',
      format: 're2',
      minLength: 1,
      maxLength: MAX_PATTERN_LENGTH,
      description: 'An RE2 expression, without look-around and back-references. All of what it matches is replaced.',
    },
    replacement: {
      type: 'string',
      maxLength: 200,
      description: 'The text that replaces a match, taken literally. Default: the name in brackets.',
    },
  },
  oneOf: [{ required: ['preset'] }, { required: ['name', 'pattern'] }],
  dependencies: { pattern: ['name'], name: ['pattern'] },
} as const;

export const privacy = defineProcessor<PrivacyOptions>({
  type: 'privacy',
  summary: 'Drops content that may not be stored, and replaces secrets and personal data by rules.',
  stability: 'beta',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      capture_content: booleanOption(true, 'Whether prompts, answers and tool payloads are stored.'),
      environments: {
        type: 'object',
        default: {},
        description: 'The same switch for single environments. A setting stored with the project wins over both.',
        additionalProperties: {
          type: 'object',
          additionalProperties: false,
          properties: { capture_content: { type: 'boolean', description: 'The switch for this environment.' } },
        },
      },
      redact: {
        type: 'array',
        default: [],
        maxItems: MAX_RULES,
        description:
          'Rules for texts that are replaced before anything is stored. A rule is a preset, or a name and a pattern.',
        items: RULE_SCHEMA,
      },
    },
  },
  check: (options, { name }) => captureFaults(options, `${name}.environments`),
  example: 'environments: { production: { capture_content: false } }',
  requires: ['project', 'environment'],
  provides: ['privacy'],
  create: (options, host) => new Privacy(options, host),
});
