/** The sections that define components: ids, types, options. */
import { resolve } from 'node:path';
import type { OptionFault } from '../component/component.ts';
import type { Definition } from '../component/definition.ts';
import { checkNode } from './check.ts';
import { COLLECTOR_TYPES } from './collector-hints.ts';
import type { CompiledSchemas } from './compiled-schemas.ts';
import { parseComponentId } from './component-id.ts';
import { type ComponentConfig, SECTION_NAMES, SECTIONS, type SectionName } from './config.ts';
import { nearest, suggest } from '../component/nearest.ts';
import { emptyMap, type Entry, type MapNode, type Node, nodeAt } from './node.ts';
import { type Diagnostics, quote } from './diagnostics.ts';
import { convertUnits, redact } from './schema.ts';

const MAX_COMPONENTS = 500;
const TOP_LEVEL = [...SECTION_NAMES, 'service', 'modules'];

/** One defined component, valid or not. */
export interface Defined {
  readonly id: string;
  readonly entry: Entry;
  /** Null when the type is unknown. */
  readonly definition: Definition | null;
  readonly config: ComponentConfig<Definition> | null;
  /** In written form with defaults, secrets replaced. */
  readonly redacted: unknown;
}

export type Defineds = Readonly<Record<SectionName, ReadonlyMap<string, Defined>>>;

/** The root of the tree as a map; null after a reported problem. */
export function checkTop(root: Node, diagnostics: Diagnostics): MapNode | null {
  diagnostics.absorb(root.faults);
  if (root.kind === 'scalar' && root.value === null) {
    diagnostics.error(root.origin, 'the configuration is empty', 'it needs receivers, exporters and service.pipelines');
    return null;
  }
  if (root.kind !== 'map') {
    diagnostics.error({ ...root.origin, length: 1 }, 'the configuration must be a map of sections', 'as receivers: …');
    return null;
  }
  for (const [key, entry] of root.entries) {
    if (TOP_LEVEL.includes(key)) continue;
    const hint =
      key === 'connectors'
        ? 'there are no connectors; a pipeline has receivers, processors and exporters'
        : suggest(key, TOP_LEVEL, 'sections');
    diagnostics.error(entry.key, `unknown section ${quote(key)}`, hint);
  }
  return root;
}

/** A misspelt section, which is an error, is read as the one that is meant: else every reference to it is one too. */
export function sectionOf(root: MapNode, name: string): Node | undefined {
  const misspelt = () => [...root.entries.keys()].find((key) => !TOP_LEVEL.includes(key) && meant(key) === name);
  return root.entries.get(root.entries.has(name) ? name : (misspelt() ?? ''))?.value;
}

const meant = (key: string): string | null => nearest(key, TOP_LEVEL);

interface Place {
  readonly workingDirectory: string;
  readonly schemas: CompiledSchemas;
  readonly diagnostics: Diagnostics;
}

interface Parts extends Place {
  readonly definitions: readonly Definition[];
}

export async function checkSections(
  root: MapNode,
  definitions: readonly Definition[],
  place: Place,
): Promise<Defineds> {
  const parts = { definitions, ...place };
  const sections: [SectionName, ReadonlyMap<string, Defined>][] = [];
  for (const name of SECTION_NAMES) sections.push([name, await checkSection(name, root, parts)]);
  return Object.fromEntries(sections) as Record<SectionName, ReadonlyMap<string, Defined>>;
}

async function checkSection(name: SectionName, root: MapNode, parts: Parts): Promise<ReadonlyMap<string, Defined>> {
  const { diagnostics } = parts;
  const section = sectionOf(root, name) ?? emptyMap(root.origin);
  const found = new Map<string, Defined>();
  diagnostics.absorb(section.faults);
  if (section.kind === 'scalar' && section.value === null) return found;
  if (section.kind !== 'map') {
    diagnostics.error(section.origin, `${name} must be a map`, `as ${name}: { ${exampleOf(name)}: {} }`);
    return found;
  }
  if (section.entries.size > MAX_COMPONENTS) {
    diagnostics.error(section.origin, `${name} defines more than ${MAX_COMPONENTS} components`);
    return found;
  }
  for (const [id, entry] of section.entries) found.set(id, await checkComponent(name, { id, entry }, parts));
  return found;
}

const exampleOf = (name: SectionName): string => (name === 'receivers' ? 'otlp' : 'type');

async function checkComponent(
  section: SectionName,
  { id, entry }: { readonly id: string; readonly entry: Entry },
  parts: Parts,
): Promise<Defined> {
  const { definitions, diagnostics } = parts;
  const kind = SECTIONS[section];
  const parsed = parseComponentId(id);
  const definition = definitions.find((each) => each.kind === kind && each.type === parsed?.type) ?? null;
  const broken = { id, entry, definition, config: null, redacted: '?' };
  if (parsed === null) {
    diagnostics.error(
      entry.key,
      `${quote(id)} is not the id of a component`,
      'write type or type/name, such as otlp or otlp/internal',
    );
    return broken;
  }
  if (definition === null) {
    const types = definitions.filter((each) => each.kind === kind).map((each) => each.type);
    const elsewhere = definitions.find((each) => each.type === parsed.type);
    const hint =
      COLLECTOR_TYPES[`${kind} ${parsed.type}`] ??
      (elsewhere === undefined
        ? suggest(parsed.type, types, section)
        : `"${parsed.type}" is an ${elsewhere.kind}; known ${section}: ${types.join(', ')}`);
    diagnostics.error(
      entry.key,
      `unknown ${kind} type "${parsed.type}"`,
      hint?.replace(/\ban (?=[prt])/u, 'a ') ?? null,
    );
    return broken;
  }
  const schema = parts.schemas.of(definition.schema);
  const value = checkNode(entry.value, schema, [section, id], diagnostics);
  if (value === undefined) return broken;
  const options = convertUnits(schema.written, value);
  const place = {
    name: `${section}.${id}`,
    resolvePath: (path: string) => resolve(parts.workingDirectory, path),
    now: Date.now,
  };
  for (const fault of (await definition.check?.(options, place)) ?? []) report(fault, entry.value, diagnostics);
  return { id, entry, definition, config: { id, definition, options }, redacted: redact(schema.written, value) };
}

function report({ option, severity, message, hint }: OptionFault, node: Node, diagnostics: Diagnostics): void {
  const { origin, references } = nodeAt(node, option);
  // A variable of the shell may be there for another program.
  const source = references === undefined ? [] : [`The value comes from ${references}.`];
  const hints = [...(hint === null ? [] : [hint]), ...source].join(' ') || null;
  if (severity === 'error') diagnostics.error(origin, message, hints);
  else diagnostics.warn(origin, message, hints);
}
