/**
 * Refuses addresses, files and sockets that two parts of one configuration would use: only one of them can listen on an
 * address or write a file. Options that name such a place have the format `endpoint`, `listen_endpoint` or `own_path`.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { parseListenEndpoint } from '../component/endpoint.ts';
import type { CompiledSchemas } from './compiled-schemas.ts';
import { SECTION_NAMES } from './config.ts';
import type { Diagnostics } from './diagnostics.ts';
import { formatPath, isWritten, type MapNode, nodeAt, type Path } from './node.ts';
import { type Schema, valuesOf } from './schema.ts';
import type { Defined, Defineds } from './sections.ts';
import { SERVICE_SCHEMA } from './service-schema.ts';
import { placeOf } from './source.ts';

interface Parts {
  readonly defineds: Defineds;
  readonly used: ReadonlySet<Defined>;
  /** The section `service` in written form, with defaults. */
  readonly service: unknown;
  readonly schemas: CompiledSchemas;
  readonly workingDirectory: string;
  readonly diagnostics: Diagnostics;
}

/** An option that names a place. */
interface Named {
  readonly path: Path;
  readonly text: string;
  /** Null for a file or socket. */
  readonly tcp: { readonly host: string; readonly port: number } | null;
  /** The absolute path of a file or socket; empty for an address. */
  readonly file: string;
}

const FORMATS = new Set(['endpoint', 'listen_endpoint', 'own_path']);
/** Sockets for these take connections of IPv4 too. */
const ALL = new Set(['', '::']);
const ALL_IPV4 = '0.0.0.0';

export async function checkExclusive(root: MapNode, parts: Parts): Promise<void> {
  const named = namedIn(parts);
  for (const [index, one] of named.entries())
    for (const other of named.slice(0, index)) if (await collide(one, other)) report(root, [other, one], parts);
}

function namedIn({ defineds, used, service, schemas, workingDirectory }: Parts): readonly Named[] {
  const inside = (schema: Schema, value: unknown, owner: Path): readonly Named[] =>
    valuesOf(schema, value, hasPlace).flatMap(({ path, value: text }) =>
      typeof text === 'string' && text !== '' ? [namedAt([...owner, ...path], text, workingDirectory)] : [],
    );
  const components = SECTION_NAMES.flatMap((section) =>
    [...defineds[section].values()].flatMap((each) =>
      each.config === null || !used.has(each)
        ? []
        : inside(schemas.of(each.config.definition.schema).written, each.redacted, [section, each.id]),
    ),
  );
  const { telemetry } = service as { readonly telemetry: { readonly metrics: { readonly enabled: boolean } } };
  const { metrics, ...others } = telemetry;
  const served = { telemetry: metrics.enabled ? telemetry : others };
  return [...components, ...inside(SERVICE_SCHEMA, served, ['service'])];
}

const hasPlace = (schemas: readonly Schema[]): boolean => schemas.some(({ format }) => FORMATS.has(String(format)));

function namedAt(path: Path, text: string, workingDirectory: string): Named {
  const endpoint = parseListenEndpoint(text);
  if (endpoint !== null && !('path' in endpoint)) return { path, text, tcp: endpoint, file: '' };
  return { path, text, tcp: null, file: resolve(workingDirectory, endpoint?.path ?? text) };
}

async function collide({ tcp: one, file }: Named, { tcp: other, file: otherFile }: Named): Promise<boolean> {
  if (one === null || other === null) return one === other && file === otherFile;
  if (one.port !== other.port || one.port === 0) return false;
  const [host, otherHost] = [await addressOf(one.host), await addressOf(other.host)];
  if (host === otherHost || ALL.has(host) || ALL.has(otherHost)) return true;
  return (host === ALL_IPV4 && isIP(otherHost) === 4) || (otherHost === ALL_IPV4 && isIP(host) === 4);
}

/** In one form. A name is resolved as for listening. */
async function addressOf(host: string): Promise<string> {
  if (host === '') return host;
  const address =
    isIP(host) > 0
      ? host
      : await lookup(host).then(
          (found) => found.address,
          () => host,
        );
  if (isIP(address) !== 6 || address.includes('%')) return address;
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

/** At the later option, or at the only one that is written. */
function report(root: MapNode, [one, other]: readonly [Named, Named], { diagnostics }: Parts): void {
  const [at, first] = isWritten(root, other.path) || !isWritten(root, one.path) ? [other, one] : [one, other];
  const place = isWritten(root, first.path) ? `at ${placeOf(nodeAt(root, first.path).origin)}` : 'by default';
  const message = `${at.text} is taken: ${formatPath(first.path)} is ${first.text} ${place}`;
  const hint = `give ${formatPath(at.path)} ${at.tcp === null ? 'a path' : 'an address'} of its own`;
  diagnostics.error(nodeAt(root, at.path).origin, message, hint);
}
