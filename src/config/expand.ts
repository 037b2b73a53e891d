/**
 * Expands `${env:NAME:-default}`, `${NAME}`, `${file:path}` and `$$` inside values. The content of a variable or file
 * is not expanded again, so a secret may contain a dollar sign. Only a file that holds a map or a list is configuration
 * and may use variables.
 */
import { isAbsolute, resolve } from 'node:path';
import type { Entry, MapNode, Node } from './node.ts';
import { parseYaml } from './parse.ts';
import { Diagnostics, quote } from './diagnostics.ts';
import { type ReadSource, readSource } from './read.ts';
import type { Origin, Source } from './source.ts';

/** The depth of `${env:A:-${env:B:-…}}`, and of files that include files. */
const MAX_EXPANSION_DEPTH = 16;
/** References in the whole configuration. */
const MAX_EXPANSIONS = 10_000;
/** The text of one value after expansion. */
const MAX_EXPANDED_LENGTH = 1024 * 1024;

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/u;
const SCHEMES = ['env', 'file'];
/** The whole value, as a shell or Docker Compose would replace it. */
const SHELL_VARIABLE = /^\$[A-Z_][A-Z0-9_]+$/u;

/** The files and defaults that are being expanded. */
type Trail = readonly string[];
const DEFAULT = ':-';

export interface ReferenceSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** When left out, files are read from disk. */
  readonly read?: ReadSource;
}

/** A reference, or text between references. */
type Piece = { readonly text: string } | { readonly reference: string };

export class Expander {
  readonly #sources: ReferenceSources;
  readonly #diagnostics: Diagnostics;
  #expansions = 0;

  constructor(sources: ReferenceSources, diagnostics: Diagnostics) {
    this.#sources = sources;
    this.#diagnostics = diagnostics;
  }

  /** The tree with every reference replaced. A map entry whose value is empty after expansion counts as not given. */
  expand(node: Node): Node {
    return this.#expand(node, []) ?? { kind: 'scalar', value: null, origin: node.origin };
  }

  /** Null: the value is empty after expansion. */
  #expand(node: Node, trail: Trail): Node | null {
    if (node.kind === 'map') return this.#expandMap(node, trail);
    if (node.kind === 'list') {
      const items = node.items.map((item) => this.#expand(item, trail) ?? emptyText(item));
      return { ...node, items };
    }
    if (typeof node.value !== 'string' || !node.value.includes('$')) return node;
    if (SHELL_VARIABLE.test(node.value))
      this.#diagnostics.warn(
        node.origin,
        'a variable without braces is not replaced',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own syntax.
        'write ${env:NAME}, or $$ for a plain dollar sign',
      );
    return this.#expandText(node.value, node.origin, trail);
  }

  #expandMap(node: MapNode, trail: Trail): MapNode {
    const entries = new Map<string, Entry>();
    for (const [key, entry] of node.entries) {
      const value = this.#expand(entry.value, trail);
      if (value !== null) entries.set(key, { key: entry.key, value });
    }
    return { ...node, entries };
  }

  #expandText(text: string, origin: Origin, trail: Trail): Node | null {
    const pieces = this.#split(text, origin);
    if (pieces === null) return missing(origin);
    const [only] = pieces;
    if (pieces.length === 1 && only !== undefined && 'reference' in only) {
      return this.#whole(only.reference, origin, trail);
    }
    // Text around a reference makes the whole value a text.
    const texts = pieces.map((piece) =>
      'text' in piece ? piece.text : (this.#resolve(piece.reference, origin, trail)?.text ?? null),
    );
    if (texts.includes(null)) return missing(origin);
    const references = pieces.flatMap((piece) => ('reference' in piece ? nameOf(piece.reference) : []));
    return this.#bounded(texts.join(''), origin, references.length === 0 ? undefined : references.join(' and '));
  }

  #bounded(raw: string, origin: Origin, references: string | undefined): Node {
    if (raw.length <= MAX_EXPANDED_LENGTH)
      return { kind: 'scalar', value: raw, raw, origin, ...(references === undefined ? {} : { references }) };
    this.#diagnostics.error(origin, `longer than ${MAX_EXPANDED_LENGTH} characters after expansion`);
    return missing(origin);
  }

  /**
   * A value that is one reference takes the type of its content: `${env:PORT}` is a number where a number is expected.
   */
  #whole(reference: string, origin: Origin, trail: Trail): Node | null {
    const found = this.#resolve(reference, origin, trail);
    if (found === null) return missing(origin);
    if (found.text === '') return null;
    const references = nameOf(reference);
    if (found.text.length > MAX_EXPANDED_LENGTH) return this.#bounded(found.text, origin, references);
    const quiet = new Diagnostics();
    const source: Source = found.file ?? { name: 'value', text: found.text };
    const parsed = parseYaml(source, quiet);
    const given = { raw: found.text, origin, references, isReference: true } as const;
    if (parsed === null) return { kind: 'scalar', value: found.text, ...given };
    if (parsed.kind === 'scalar') return { kind: 'scalar', value: parsed.value ?? found.text, ...given };
    if (found.file === null) {
      hideTexts(parsed, references, this.#diagnostics);
      return { ...moveTo(parsed, { origin, references }), raw: found.text };
    }
    const faults = new Diagnostics();
    const inside = new Expander(this.#sources, faults).#expand(parsed, [...trail, found.file.name]);
    // A file that looks like configuration may hold a secret, so messages about the value as a whole do not show its
    // text.
    return inside === null ? null : { ...inside, ...given, faults };
  }

  /** Null after a reported problem. */
  #resolve(
    reference: string,
    origin: Origin,
    trail: Trail,
  ): { readonly text: string; readonly file: Source | null } | null {
    this.#expansions += 1;
    if (trail.length > MAX_EXPANSION_DEPTH || this.#expansions > MAX_EXPANSIONS) {
      const bound =
        trail.length > MAX_EXPANSION_DEPTH ? `${MAX_EXPANSION_DEPTH} levels deep` : `${MAX_EXPANSIONS} times`;
      this.#diagnostics.error(origin, `variables and files refer to each other more than ${bound}`);
      return null;
    }
    const scheme = /^([A-Za-z][A-Za-z0-9_+.-]*):(?!-)/u.exec(reference)?.[1];
    if (scheme === undefined || scheme === 'env') {
      return this.#variable(scheme === undefined ? reference : reference.slice(4), origin, trail);
    }
    if (scheme === 'file') return this.#file(reference.slice(5), origin, trail);
    const what = `\${${scheme}:…} is not known`;
    this.#diagnostics.error(origin, what, `known are ${SCHEMES.join(' and ')}; a plain dollar sign is written $$`);
    return null;
  }

  #variable(reference: string, origin: Origin, trail: Trail) {
    const split = reference.indexOf(':-');
    const name = split === -1 ? reference : reference.slice(0, split);
    if (!VARIABLE_NAME.test(name)) {
      const hint = 'letters, digits and underscores only; a plain dollar sign is written $$';
      this.#diagnostics.error(origin, `${quote(name)} is not the name of an environment variable`, hint);
      return null;
    }
    const set = this.#sources.environment[name];
    if (set !== undefined && (set !== '' || split === -1)) {
      if (set === '') {
        const hint = `set it, or write \${env:${name}:-} where it may be empty`;
        this.#diagnostics.error(origin, `the environment variable ${name} is set and empty`, hint);
        return null;
      }
      this.#diagnostics.hideText(set, `\${${name}}`);
      return { text: set, file: null };
    }
    if (split === -1) {
      const hint = `set it, or give a default: \${env:${name}:-default}`;
      this.#diagnostics.error(origin, `the environment variable ${name} is not set`, hint);
      return null;
    }
    const fallback = this.#expandText(reference.slice(split + 2), origin, [...trail, DEFAULT]);
    if (fallback?.missing === true) return null;
    return { text: fallback === null ? '' : textOf(fallback), file: null };
  }

  #file(reference: string, origin: Origin, trail: Trail) {
    const named = this.#expandText(reference, origin, [...trail, DEFAULT]);
    if (named?.missing === true) return null;
    const name = named === null ? '' : textOf(named);
    if (trail.includes(name)) {
      this.#diagnostics.error(origin, `the file ${name} refers to itself`);
      return null;
    }
    const path = isAbsolute(name) ? name : resolve(this.#sources.workingDirectory, name);
    const quiet = new Diagnostics();
    const { read = readSource } = this.#sources;
    const source = read(name, path, quiet);
    if (source === null) {
      const [fault] = quiet.errors;
      this.#diagnostics.error(
        origin,
        (fault?.message ?? '').replace('configuration file', 'file'),
        fault?.hint ?? null,
      );
      return null;
    }
    const text = source.text.replace(/\r?\n$/u, '');
    this.#diagnostics.hideText(text, `\${file:${name}}`);
    return { text, file: source };
  }

  /** Cuts a text into plain pieces and references; `$$` becomes `$`. Null after a reported problem. */
  #split(text: string, origin: Origin): readonly Piece[] | null {
    const pieces: Piece[] = [];
    let plain = '';
    for (let at = 0; at < text.length; ) {
      const next = text[at + 1];
      if (text[at] === '$' && next === '$') {
        plain += '$';
        at += 2;
      } else if (text[at] === '$' && next === '{') {
        const end = closingBrace(text, at + 2);
        if (end === -1) {
          this.#diagnostics.error(
            origin,
            'a reference that begins with "$" and "{" has no "}"',
            'a plain dollar sign is written $$',
          );
          return null;
        }
        if (plain !== '') pieces.push({ text: plain });
        plain = '';
        pieces.push({ reference: text.slice(at + 2, end) });
        at = end + 1;
      } else {
        plain += text[at];
        at += 1;
      }
    }
    if (plain !== '' || pieces.length === 0) pieces.push({ text: plain });
    return pieces;
  }
}

/** The end of a reference. References nest: `${env:A:-${env:B}}`. */
function closingBrace(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '$' && text[at + 1] === '{') depth += 1;
    if (text[at] === '}' && (depth -= 1) === 0) return at;
  }
  return -1;
}

const textOf = (node: Node): string => node.raw ?? (node.kind === 'scalar' ? String(node.value ?? '') : '');
const missing = (origin: Origin): Node => ({ kind: 'scalar', value: null, missing: true, origin });
const emptyText = (node: Node): Node => ({ kind: 'scalar', value: '', raw: '', origin: node.origin });

/** A reference as messages show it: without its default, which may be secret. */
function nameOf(reference: string): string {
  const scheme = reference.startsWith('file:') ? 'file:' : '';
  const name = reference.replace(/^(?:env|file):/u, '');
  const end = name.indexOf(DEFAULT);
  return `\${${scheme}${end === -1 || scheme !== '' ? name : name.slice(0, end)}}`;
}

/** The place and the text of a reference. */
interface Given {
  readonly origin: Origin;
  readonly references: string;
}

/** Nodes that came from a variable get the place of the reference. */
function moveTo(node: Node, given: Given): Node {
  if (node.kind === 'scalar') return { ...node, ...given };
  if (node.kind === 'list') return { ...node, ...given, items: node.items.map((item) => moveTo(item, given)) };
  const entries = [...node.entries].map(([key, entry]): [string, Entry] => [
    key,
    { key: given.origin, value: moveTo(entry.value, given) },
  ]);
  return { kind: 'map', entries: new Map(entries), ...given };
}

/** The texts of a structure that came from a variable, keys included. */
function hideTexts(node: Node, references: string, diagnostics: Diagnostics): void {
  if (node.kind === 'scalar') diagnostics.hideText(String(node.value), references);
  else if (node.kind === 'list') for (const item of node.items) hideTexts(item, references, diagnostics);
  else
    for (const [key, entry] of node.entries) {
      diagnostics.hideText(key, references);
      hideTexts(entry.value, references, diagnostics);
    }
}
