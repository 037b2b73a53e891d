/**
 * Checks how the parts fit together: every reference exists, every pipeline is complete, each processor's requirements
 * are provided by earlier processors and what it precedes by later ones, and every defined component is used.
 */
import type { ExporterDefinition } from '../component/exporter.ts';
import type { ProcessorDefinition } from '../component/processor.ts';
import type { Definition } from '../component/definition.ts';
import { parsePipelineId } from './component-id.ts';
import { PIPELINE_SIGNALS, SECTION_NAMES, SECTIONS, type SectionName, type Signal } from './config.ts';
import { nearest, suggest } from '../component/nearest.ts';
import { childOf, type Node } from './node.ts';
import { type Diagnostics, quote } from './diagnostics.ts';
import type { Defined, Defineds } from './sections.ts';
import type { Origin } from './source.ts';

type Fact = ProcessorDefinition<unknown>['provides'][number];

const FACT_WORDS: Readonly<Record<Fact, string>> = {
  project: 'the project',
  environment: 'the environment',
  privacy: 'the privacy decision',
  derived: 'derived fields',
  cost: 'costs',
};

export interface Parts {
  readonly defineds: Defineds;
  readonly definitions: readonly Definition[];
  readonly diagnostics: Diagnostics;
}

/** One reference to a component in a list. */
interface Mention {
  readonly id: string;
  readonly origin: Origin;
  /** Null when the component is not defined, or its type is unknown. */
  readonly definition: Definition | null;
}

/**
 * Returns the components that are used. `service` is the node of the section. Its shape has been checked and may be
 * wrong.
 */
export function checkPipelines(service: Node, parts: Parts): ReadonlySet<Defined> {
  const used = new Set<Defined>();
  const feeds = new Map<string, string>();
  const single = new Map<string, string>();
  const pipelines = childOf(service, 'pipelines');
  const entries = pipelines?.kind === 'map' ? pipelines.entries : new Map();
  for (const [id, entry] of entries) {
    const signal = parsePipelineId(id);
    if (signal === null) {
      const name = id.split('/')[0] ?? '';
      const near = nearest(name, PIPELINE_SIGNALS);
      const hint =
        near === null
          ? `write ${PIPELINE_SIGNALS.join(', ')}, optionally with /name`
          : `did you mean "${id.replace(name, near)}"?`;
      parts.diagnostics.error(entry.key, `${quote(id)} is not the id of a pipeline`, hint);
    } else checkPipeline(id, signal, entry.value, { parts, used, feeds, single });
  }
  const extensions = mentionsIn(service, 'extensions', 'extensions', parts, used);
  checkLedger(service, extensions, { parts, used });
  checkRequirements(extensions, { parts, used });
  // While there are errors, unused components are usually a consequence of them.
  if (!parts.diagnostics.failed) warnUnused(parts, used);
  return used;
}

interface Progress {
  readonly parts: Parts;
  readonly used: Set<Defined>;
  /** Maps `receiver id, signal` to the pipeline that it feeds. */
  readonly feeds: Map<string, string>;
  /** Maps the type of an exporter that may be used once, or `pipeline type`, to its id. */
  readonly single: Map<string, string>;
}

function checkPipeline(id: string, signal: Signal, pipeline: Node, progress: Progress): void {
  const { parts, used, feeds } = progress;
  const { diagnostics } = parts;
  for (const receiver of mentionsIn(pipeline, 'receivers', 'receivers', parts, used)) {
    supportsSignal(receiver, signal, diagnostics);
    const key = `${receiver.id} ${signal}`;
    const other = feeds.get(key);
    if (other !== undefined && other !== id) {
      const hint = `give the pipeline ${id} a receiver of its own, as ${receiver.id.split('/')[0]}/second on another port`;
      diagnostics.error(
        receiver.origin,
        `the receiver "${receiver.id}" already feeds its ${signal} into the pipeline "${other}"; a request goes through one pipeline and gets one answer`,
        hint,
      );
    } else feeds.set(key, id);
  }
  const known = scanFacts(id, mentionsIn(pipeline, 'processors', 'processors', parts, used, 'error'), parts);
  for (const exporter of mentionsIn(pipeline, 'exporters', 'exporters', parts, used)) {
    supportsSignal(exporter, signal, diagnostics);
    if (exporter.definition?.kind !== 'exporter') continue;
    refuseSecond(id, exporter, exporter.definition, progress);
    for (const fact of exporter.definition.requires.filter((each) => !known.has(each))) {
      diagnostics.error(
        exporter.origin,
        `the exporter "${exporter.id}" needs ${FACT_WORDS[fact]}`,
        addHint(id, fact, parts),
      );
    }
  }
}

function refuseSecond(
  pipeline: string,
  { id, origin }: Mention,
  { type, once }: ExporterDefinition<unknown>,
  { single, parts }: Progress,
): void {
  if (once === undefined) return;
  const place = once === 'service' ? type : `${pipeline} ${type}`;
  const other = single.get(place) ?? id;
  single.set(place, other);
  if (other === id) return;
  const message =
    once === 'service'
      ? `"${id}" cannot be used beside "${other}"`
      : `"${id}" would store again what "${other}" stores`;
  parts.diagnostics.error(origin, message, `use one exporter of the type ${type} in a ${once}`);
}

/** Checks requirements from left to right. Returns the facts that are known at the end. */
function scanFacts(pipeline: string, processors: readonly Mention[], parts: Parts): ReadonlySet<Fact> {
  const known = new Set<Fact>();
  processors.forEach((processor, index) => {
    if (processor.definition?.kind !== 'processor') {
      // The facts that an unknown processor provides are unknown, so requirements after it are not reported.
      for (const fact of Object.keys(FACT_WORDS) as Fact[]) if (processor.definition === null) known.add(fact);
      return;
    }
    for (const fact of processor.definition.requires.filter((each) => !known.has(each))) {
      const later = processors.slice(index + 1).find((other) => provides(other.definition, fact));
      const message = `the processor "${processor.id}" needs ${FACT_WORDS[fact]}`;
      const hint =
        later === undefined
          ? addHint(pipeline, fact, parts, processor.id)
          : `put "${later.id}" before "${processor.id}"`;
      parts.diagnostics.error(processor.origin, message, hint);
      // Reported once, at the first processor that needs it.
      known.add(fact);
    }
    for (const fact of processor.definition.precedes ?? []) {
      const earlier = processors.slice(0, index).find((other) => provides(other.definition, fact));
      if (earlier === undefined) continue;
      const message = `the processor "${processor.id}" must run before ${FACT_WORDS[fact]} are known`;
      parts.diagnostics.error(processor.origin, message, `put "${processor.id}" before "${earlier.id}"`);
    }
    for (const fact of processor.definition.provides) known.add(fact);
  });
  return known;
}

const provides = (definition: Definition | null, fact: Fact): boolean =>
  definition?.kind === 'processor' && definition.provides.includes(fact);

function addHint(pipeline: string, fact: Fact, { definitions }: Parts, before: string | null = null): string | null {
  const provider = definitions.find((definition) => provides(definition, fact));
  if (provider === undefined) return `no known processor provides it`;
  return before === null
    ? `add "${provider.type}" to the processors of ${pipeline}`
    : `add "${provider.type}" before "${before}"`;
}

function supportsSignal({ id, origin, definition }: Mention, signal: Signal, diagnostics: Diagnostics): void {
  if (definition === null || !('signals' in definition) || definition.signals.includes(signal)) return;
  diagnostics.error(
    origin,
    `the ${definition.kind} "${id}" does not take ${signal}`,
    `it takes ${definition.signals.join(', ')}`,
  );
}

/** The ids of a list. Reports ids that are not defined or named twice. */
function mentionsIn(
  owner: Node,
  list: string,
  section: SectionName,
  parts: Parts,
  used: Set<Defined>,
  twice: 'error' | 'warning' = 'warning',
): readonly Mention[] {
  const node = childOf(owner, list);
  const mentions = new Map<string, Mention>();
  if (node?.kind !== 'list') return [];
  for (const item of node.items) {
    const id = item.raw ?? (item.kind === 'scalar' ? String(item.value ?? '') : '');
    if (id === '') continue;
    if (mentions.has(id)) {
      const message = `"${id}" is named twice in ${list}`;
      if (twice === 'error') parts.diagnostics.error(item.origin, message, 'each processor runs once in a pipeline');
      else parts.diagnostics.warn(item.origin, message, 'the second mention changes nothing');
      continue;
    }
    const defined = parts.defineds[section].get(id);
    if (defined === undefined && !isMisspelt(id, parts.defineds[section])) {
      parts.diagnostics.error(
        item.origin,
        `the ${SECTIONS[section]} "${id}" is not defined`,
        missingHint(id, section, parts),
      );
    } else if (defined !== undefined) used.add(defined);
    mentions.set(id, { id, origin: item.origin, definition: defined?.definition ?? null });
  }
  return [...mentions.values()];
}

/** Whether the definition has a misspelt id or type, which is reported there. */
function isMisspelt(id: string, defineds: ReadonlyMap<string, Defined>): boolean {
  const near = nearest(id, defineds.keys());
  return near !== null && defineds.get(near)?.definition === null;
}

function missingHint(id: string, section: SectionName, { defineds, definitions }: Parts): string | null {
  const near = suggest(id, [...defineds[section].keys()], section);
  if (near?.startsWith('did you mean') === true) return near;
  const elsewhere = SECTION_NAMES.find((name) => name !== section && defineds[name].has(id));
  const known = definitions.some(
    (definition) => definition.kind === SECTIONS[section] && definition.type === id.split('/')[0],
  );
  if (known) return `define it: ${section}: { ${id}: {} }`;
  return elsewhere === undefined ? near : `"${id}" is defined under ${elsewhere}`;
}

/** An extension may need others, for example a database. */
function checkRequirements(extensions: readonly Mention[], { parts, used }: Pick<Progress, 'parts' | 'used'>): void {
  for (const { id, origin, definition } of extensions) {
    if (definition?.kind !== 'extension') continue;
    for (const type of definition.requires ?? []) {
      if (extensions.some((other) => other.definition?.type === type)) continue;
      const defined = [...parts.defineds.extensions.values()].find((each) => each.definition?.type === type);
      if (defined !== undefined) used.add(defined);
      parts.diagnostics.error(
        origin,
        `the extension "${id}" needs the extension "${type}"`,
        `add "${defined?.id ?? type}" to service.extensions`,
      );
    }
  }
}

function checkLedger(
  service: Node,
  extensions: readonly Mention[],
  { parts, used }: Pick<Progress, 'parts' | 'used'>,
): void {
  const node = childOf(service, 'ledger');
  const ledger = node?.kind === 'scalar' && node.value !== null ? (node.raw ?? node.value) : 'postgres';
  const origin = node?.origin ?? { ...service.origin, length: 1 };
  const databases = extensions.filter((extension) => isPostgres(extension.definition));
  const second = databases[1];
  if (second !== undefined) {
    parts.diagnostics.error(second.origin, 'a second postgres extension', 'one service has one database');
  }
  if (ledger === 'postgres' && databases.length === 0) {
    const defined = [...parts.defineds.extensions.values()].find((each) => isPostgres(each.definition));
    const name = defined?.id ?? 'postgres';
    if (defined !== undefined) used.add(defined);
    const hint = `add "${name}" to service.extensions, or write ledger: memory`;
    parts.diagnostics.error(origin, 'the ledger "postgres" needs a postgres extension', hint);
  }
  if (ledger !== 'memory') return;
  for (const [id, { definition, entry }] of parts.defineds.exporters) {
    if (definition?.kind !== 'exporter' || definition.ledger !== 'postgres') continue;
    if (![...used].some((each) => each.entry === entry)) continue;
    parts.diagnostics.error(
      origin,
      `the exporter "${id}" writes within the transactions of the postgres ledger`,
      'write ledger: postgres',
    );
  }
}

const isPostgres = (definition: Definition | null): boolean =>
  definition?.kind === 'extension' && definition.type === 'postgres';

function warnUnused({ defineds, diagnostics }: Parts, used: ReadonlySet<Defined>): void {
  for (const section of SECTION_NAMES) {
    for (const defined of defineds[section].values()) {
      if (used.has(defined) || defined.definition === null) continue;
      const list = section === 'extensions' ? 'service.extensions' : 'a pipeline';
      const what = `the ${SECTIONS[section]} "${defined.id}" is defined but not used`;
      diagnostics.warn(defined.entry.key, what, `name it in ${list}, or remove it`);
    }
  }
}
