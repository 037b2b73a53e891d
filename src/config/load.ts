/** Loads files and settings into a validated configuration, or reports everything that is wrong with them. */
import { resolve } from 'node:path';
import type { Definition } from '../component/definition.ts';
import { REDACTED } from '../component/masked-url.ts';
import { checkNode } from './check.ts';
import { CompiledSchemas } from './compiled-schemas.ts';
import { parsePipelineId } from './component-id.ts';
import type { ComponentConfig, Config, PipelineConfig, SectionName, ServiceConfig, TelemetryConfig } from './config.ts';
import { checkExclusive } from './exclusive.ts';
import { Expander, type ReferenceSources } from './expand.ts';
import { merge, parseSetting } from './merge.ts';
import { loadModules } from './modules.ts';
import { type MapNode, type Node, nodeAt, type Path, plainValueOf } from './node.ts';
import { parseYaml } from './parse.ts';
import { checkPipelines, type Parts } from './pipelines.ts';
import { checkPlacement } from './placement.ts';
import { ConfigError, Diagnostics } from './diagnostics.ts';
import { readSource } from './read.ts';
import { convertUnits, redact } from './schema.ts';
import { checkSections, checkTop, type Defineds, sectionOf } from './sections.ts';
import { SERVICE_SCHEMA } from './service-schema.ts';

const MAX_FILES = 50;
const MAX_SETTINGS = 500;

export interface LoadRequest extends ReferenceSources {
  /** YAML files, merged from left to right. */
  readonly files: readonly string[];
  /** `a.b.c=value`, applied after the files. */
  readonly settings?: readonly string[];
  /** The shipped components. */
  readonly definitions: readonly Definition[];
  /** The number of processes that will run it; one when left out. */
  readonly workers?: number;
  readonly importModule?: (url: string) => Promise<Readonly<Record<string, unknown>>>;
  /** The schemas of an earlier load, which saves compiling. */
  readonly schemas?: CompiledSchemas;
}

/** What varies between two loads of one command line. */
export type LoadOptions = Pick<LoadRequest, 'workers' | 'read' | 'schemas'>;

/** Throws a `ConfigError` with all problems. */
export async function loadConfig(request: LoadRequest): Promise<Config> {
  const diagnostics = new Diagnostics();
  const tree = readTree(request, diagnostics);
  if (tree === null) throw new ConfigError(diagnostics);
  const expanded = new Expander(request, diagnostics).expand(tree);
  const root = checkTop(expanded, diagnostics);
  if (root === null) throw new ConfigError(diagnostics);
  const { workingDirectory, importModule = (url) => import(url), schemas = new CompiledSchemas() } = request;
  const place = { workingDirectory, importModule };
  const definitions = await loadModules(root.entries.get('modules')?.value, request.definitions, place, diagnostics);
  const defineds = await checkSections(root, definitions, { workingDirectory, schemas, diagnostics });
  const parts = { defineds, definitions, diagnostics, schemas, workingDirectory, workers: request.workers ?? 1 };
  const service = await checkService(root, parts);
  if (service === undefined || diagnostics.failed) throw new ConfigError(diagnostics);
  return finish({ root, defineds, definitions, service, diagnostics });
}

/**
 * The merged tree before expansion; null when a file could not be used. All files are read, so that all problems are
 * found.
 */
function readTree(request: LoadRequest, diagnostics: Diagnostics): Node | null {
  const { files, settings = [] } = request;
  if (files.length === 0) diagnostics.error(null, 'no configuration file is given', 'name one with --config');
  if (files.length > MAX_FILES) diagnostics.error(null, `more than ${MAX_FILES} configuration files are given`);
  if (settings.length > MAX_SETTINGS) diagnostics.error(null, `more than ${MAX_SETTINGS} settings are given`);
  if (diagnostics.failed) return null;
  const trees = [
    ...files.map((file) => readFile(file, request, diagnostics)),
    ...settings.map((setting) => parseSetting(setting, diagnostics)),
  ];
  if (diagnostics.failed) return null;
  // An empty file among others adds nothing; alone it is reported as an empty configuration.
  const given = trees.filter((tree) => tree !== null);
  const filled = given.filter((tree) => tree.kind !== 'scalar' || tree.value !== null);
  return filled.length > 0 ? filled.reduce(merge) : (given[0] ?? null);
}

function readFile(
  file: string,
  { workingDirectory, read = readSource }: LoadRequest,
  diagnostics: Diagnostics,
): Node | null {
  const source = read(file, resolve(workingDirectory, file), diagnostics);
  return source === null ? null : parseYaml(source, diagnostics);
}

interface ServiceParts extends Parts {
  readonly schemas: CompiledSchemas;
  readonly workingDirectory: string;
  readonly workers: number;
}

/** The section in written form, with defaults; undefined after problems. */
async function checkService(root: MapNode, parts: ServiceParts): Promise<unknown> {
  const node = sectionOf(root, 'service');
  if (node === undefined) {
    const hint = 'add service: { pipelines: { traces: { receivers: […], exporters: […] } } }';
    parts.diagnostics.error({ ...root.origin, length: 1 }, 'the section "service" is missing', hint);
    return undefined;
  }
  const value = checkNode(node, parts.schemas.of(SERVICE_SCHEMA), ['service'], parts.diagnostics);
  const used = checkPipelines(node, parts);
  if (parts.workers > 1) checkPlacement(node, parts);
  if (value !== undefined) await checkExclusive(root, { ...parts, used, service: value });
  return value;
}

interface Checked extends Parts {
  readonly root: MapNode;
  readonly service: unknown;
}

/** The properties that the service schema guarantees, after conversion of units. */
interface WrittenService {
  readonly ledger: ServiceConfig['ledger'];
  readonly shutdown_timeout: number;
  readonly extensions: readonly string[];
  readonly pipelines: Readonly<Record<string, Omit<PipelineConfig, 'id' | 'signal'>>>;
  readonly telemetry: TelemetryConfig;
}

function finish({ root, defineds, definitions, service, diagnostics }: Checked): Config {
  const written = convertUnits(SERVICE_SCHEMA, service) as WrittenService;
  const redacted = redactedOf(root, defineds, service);
  return {
    receivers: componentsOf(defineds, 'receivers', 'receiver'),
    processors: componentsOf(defineds, 'processors', 'processor'),
    exporters: componentsOf(defineds, 'exporters', 'exporter'),
    extensions: componentsOf(defineds, 'extensions', 'extension'),
    service: {
      ledger: written.ledger,
      shutdownTimeoutMs: written.shutdown_timeout,
      extensions: unique(written.extensions),
      pipelines: Object.entries(written.pipelines).flatMap(([id, pipeline]) => pipelineOf(id, pipeline)),
      telemetry: written.telemetry,
    },
    definitions,
    redacted,
    references: referencesIn(redacted, root),
    warnings: diagnostics.renderWarnings(),
  };
}

function pipelineOf(id: string, pipeline: Omit<PipelineConfig, 'id' | 'signal'>): readonly PipelineConfig[] {
  const signal = parsePipelineId(id);
  if (signal === null) return [];
  const { receivers, processors, exporters } = pipeline;
  return [{ id, signal, receivers: unique(receivers), processors, exporters: unique(exporters) }];
}

const unique = (ids: readonly string[]): readonly string[] => [...new Set(ids)];

function componentsOf<K extends Definition['kind']>(defineds: Defineds, section: SectionName, kind: K) {
  type Of = Extract<Definition, { readonly kind: K }>;
  const found = new Map<string, ComponentConfig<Of>>();
  for (const { config } of defineds[section].values()) {
    if (config !== null && config.definition.kind === kind) found.set(config.id, config as ComponentConfig<Of>);
  }
  return found;
}

/** In the usual order of a configuration. */
function redactedOf(root: MapNode, defineds: Defineds, service: unknown): Record<string, unknown> {
  const sections = (['extensions', 'receivers', 'processors', 'exporters'] as const).map((name) => {
    return [name, Object.fromEntries([...defineds[name].values()].map((each) => [each.id, each.redacted]))] as const;
  });
  const modules = root.entries.get('modules');
  return {
    ...(modules === undefined ? {} : { modules: plainValueOf(modules.value) }),
    ...Object.fromEntries(sections.filter(([, components]) => Object.keys(components).length > 0)),
    service: redact(SERVICE_SCHEMA, service),
  };
}

function referencesIn(redacted: Record<string, unknown>, root: MapNode): Config['references'] {
  const found: { path: Path; reference: string }[] = [];
  const visit = (value: unknown, path: Path): void => {
    if (typeof value === 'object' && value !== null) {
      const isList = Array.isArray(value);
      for (const [step, inner] of Object.entries(value)) visit(inner, [...path, isList ? Number(step) : step]);
    } else if (typeof value === 'string' && value.includes(REDACTED)) {
      const { isReference, references } = nodeAt(root, path);
      if (isReference === true && references !== undefined) found.push({ path, reference: references });
    }
  };
  visit(redacted, []);
  return found;
}
