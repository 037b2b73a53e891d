/** Reads the project's own documentation: files, tables, code blocks and links. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');

/** Every published document, relative to the root. */
export function documents(): readonly string[] {
  const below = (folder: string): readonly string[] =>
    readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md'))
      .map((path) => `${folder}/${path}`);
  return [
    'README.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    ...below('docs'),
    ...below('config'),
    ...below('src'),
    ...below('bench'),
  ];
}

/** The text between a heading and the next heading of its level or above. */
export function section(text: string, heading: string): string {
  const level = /^#+/.exec(heading)?.[0].length ?? 0;
  const lines = text.split('\n');
  const start = lines.indexOf(heading);
  if (start < 0) throw new Error(`there is no heading "${heading}"`);
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => new RegExp(`^#{1,${level}} `).test(line));
  return rest.slice(0, end < 0 ? rest.length : end).join('\n');
}

/** The cells of the first table, without its head. */
export function tableIn(text: string): readonly (readonly string[])[] {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => /^\|[-|]+\|$/.test(line));
  const rows: string[][] = [];
  for (const line of lines.slice(start + 1)) {
    if (!line.startsWith('|')) break;
    const cells = line.slice(1, -1).split(/(?<!\\)\|/);
    rows.push(cells.map((cell) => cell.trim().replaceAll('\\|', '|')));
  }
  return rows;
}

/** A name without its backquotes. */
export const bare = (cell: string | undefined): string => (cell ?? '').replaceAll('`', '');

export function codeBlocks(text: string, language: string): readonly string[] {
  const blocks = text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^\\1\`\`\``, 'gm'));
  return [...blocks].map(([, indent = '', code = '']) => code.replace(new RegExp(`^${indent}`, 'gm'), ''));
}

/** Targets of links within the repository, without those in code. */
export function links(text: string): readonly string[] {
  const prose = text.replace(/^ *```[\s\S]*?^ *```/gm, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchor of a heading, as GitHub makes it. */
export const anchorOf = (heading: string): string =>
  heading
    .replace(/^#+ /, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
