/**
 * The `privacy` processor: leaves content out where it may not be stored, credentials everywhere, and replaces what the
 * configured patterns find. It runs before anything is read out of a record, so nothing it removed can come back.
 */
import { defineProcessor, type Processor } from '../../component/processor.ts';
import type { Batch, Tables } from '../../model/batch.ts';
import type { Context, RequestInfo } from '../../model/context.ts';
import { type CaptureOptions, CaptureSettings, storedSettings } from './capture.ts';
import { ContentLists, SymbolPolicies } from './content-policy.ts';
import { ContentRemoval, dropCredentials } from './content-removal.ts';

export type PrivacyOptions = CaptureOptions;

class Privacy implements Processor {
  readonly #capture: CaptureSettings;
  readonly #lists = new ContentLists();
  #policies: SymbolPolicies | null = null;

  constructor(options: PrivacyOptions) {
    this.#capture = new CaptureSettings(options);
  }

  prepare(tables: Tables): void {
    this.#policiesFor(tables).update();
  }

  /** Settings that can not be read refuse the request before its body is. */
  admit(_request: RequestInfo, context: Context): void {
    storedSettings(context.project);
  }

  process(batch: Batch): void {
    const policies = this.#policiesFor(batch.tables);
    policies.update();
    dropCredentials(batch, policies);
    if (!this.#decide(batch)) new ContentRemoval(batch, this.#lists, policies).run();
  }

  /** Writes the decision beside each resource; true when the content of all of them may be stored. */
  #decide(batch: Batch): boolean {
    const { project } = batch.context;
    const always = this.#capture.isAlwaysOn(project);
    let all = true;
    for (let resource = 0; resource < batch.resourceCount; resource++) {
      const captures = always || this.#capture.captures(project, batch.environmentOf(resource));
      batch.setCapture(resource, captures);
      all &&= captures;
    }
    return all;
  }

  #policiesFor(tables: Tables): SymbolPolicies {
    if (this.#policies?.tables !== tables) this.#policies = new SymbolPolicies(this.#lists, tables);
    return this.#policies;
  }
}

export const privacy = defineProcessor<PrivacyOptions>({
  type: 'privacy',
  summary: 'Leaves out content where it may not be stored, and replaces what patterns find.',
  stability: 'beta',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      capture_content: {
        type: 'boolean',
        default: true,
        description: 'Whether prompts, answers and tool payloads are stored.',
      },
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
    },
  },
  example: 'environments: { production: { capture_content: false } }',
  requires: ['project', 'environment'],
  provides: ['privacy'],
  create: (options) => new Privacy(options),
});
