/** Checks a node against a schema. Returns the value with defaults, or reports problems with key, place and remedy. */
import type { CompiledSchema } from './compiled-schemas.ts';
import { explain } from './explain.ts';
import { type Node, nodeAt, type Path } from './node.ts';
import type { Diagnostics } from './diagnostics.ts';
import { applicable, childSchemas, type JsonType, jsonTypeOf, type Schema, secretPaths, typesOf } from './schema.ts';

/**
 * The value in written form with defaults; undefined after problems. `path` is the path of the node in the
 * configuration.
 */
export function checkNode(
  node: Node,
  { written, check }: CompiledSchema,
  path: Path,
  diagnostics: Diagnostics,
): unknown {
  const value = plainValue(node, [written], diagnostics) ?? {};
  for (const secret of secretPaths(written, value)) hideNode(nodeAt(node, secret), diagnostics);
  if (check(value)) return value;
  explain(check.errors ?? [], { node, schema: written, path, diagnostics });
  return undefined;
}

/** The name of a variable is not secret and helps the reader. A default inside the reference may be secret. */
function hideNode({ origin }: Node, diagnostics: Diagnostics): void {
  const written = origin.source.text.slice(origin.offset, origin.offset + origin.length);
  if (!/^["']?\$\{(?:env:)?\w+\}["']?$/u.test(written)) diagnostics.hide(origin);
}

/**
 * The value that an option receives. A text option takes the exact text of a variable, even if it looks like a number.
 * A key without a value means an empty map, or, where no map is allowed, that the option is not given. An unknown key
 * is kept, so that it is refused.
 */
function plainValue(node: Node, schemas: readonly Schema[], diagnostics: Diagnostics): unknown {
  const all = schemas.flatMap((schema) => applicable(schema, kindOf(node)));
  if (node.raw !== undefined && wantsText(all, kindOf(node))) return node.raw;
  diagnostics.absorb(node.faults);
  if (node.kind === 'list')
    return node.items.map((item, index) => plainValue(item, childSchemas(all, index), diagnostics));
  if (node.kind === 'scalar') {
    if (node.value === 0 && all.some((schema) => schema['format'] === 'duration')) return '0s';
    return node.value === null && wants(all, 'object') ? {} : node.value;
  }
  const closed = all.some((schema) => schema['additionalProperties'] === false);
  const entries = [...node.entries].flatMap(([key, entry]) => {
    const children = childSchemas(all, key);
    const value = plainValue(entry.value, children, diagnostics);
    const isKept = value !== null || wants(children, 'null') || (closed && children.length === 0);
    return isKept ? [[key, value] as const] : [];
  });
  return Object.fromEntries(entries);
}

const wants = (schemas: readonly Schema[], type: string): boolean =>
  schemas.some((schema) => typesOf(schema).includes(type));

/** True when a string is allowed and the type that the text looks like is not. */
function wantsText(schemas: readonly Schema[], type: JsonType): boolean {
  const own = type === 'number' ? wants(schemas, 'number') || wants(schemas, 'integer') : wants(schemas, type);
  return wants(schemas, 'string') && (type === 'string' || !own);
}

function kindOf(node: Node): JsonType {
  if (node.kind === 'map') return 'object';
  return node.kind === 'list' ? 'array' : jsonTypeOf(node.value);
}
