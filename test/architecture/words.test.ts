/**
 * The words of comments, messages, test titles and docs: none of the glossary's "Words not used". Comments are at most
 * 120 columns wide.
 */
import { readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import t from 'tap';
import type Ts from 'typescript';
import { read, ROOT, section, tableIn } from '../docs/markdown.ts';

/** An import would search the whole compiler for names, which takes most of a second. */
const ts = createRequire(import.meta.url)('typescript') as typeof Ts;
const MAX_WIDTH = 120;

/** Files and folders that are built or installed, or that running tests and daemons write. */
const NOT_OURS = ['.git', '.tap', 'data', 'dist', 'node_modules', 'package-lock.json'];
/** Files that are generated from other folders, and files with the words in question. */
const EXCLUDED = [
  'config/reference.yaml',
  'config/schema.json',
  'docs/dialects.md',
  'docs/glossary.md',
  'test/architecture/words.test.ts',
];
const CODE = /\.[jt]sx?$/u;
/** A migration is not edited once it is released. */
const MIGRATION = /\/migrations\/\d{4}-/u;
/** Generated tables in documents. */
const GENERATED = /<!-- (?:options|components)[\s\S]*?<!-- end -->/gu;
/** Code in documents, and quoted code in comments. */
const FENCED = /^```[\s\S]*?^```/gmu;
const QUOTED = /`[^`\n]*`/gu;
const LINK_TARGET = /\]\([^)\s]*\)/gu;

const unused = tableIn(section(read('docs/glossary.md'), '## Words not used')).flatMap(([words = '']) =>
  words.split(', '),
);
const FORBIDDEN = new RegExp(`\\b(?:${unused.map((words) => words.replaceAll(' ', '\\s+')).join('|')})\\b`, 'giu');

/** A text that people read, and its line in the file. */
interface Prose {
  readonly line: number;
  readonly text: string;
  readonly isComment: boolean;
}

function filesOf(path: string): readonly string[] {
  if (!statSync(join(ROOT, path)).isDirectory()) return [path];
  return readdirSync(join(ROOT, path)).flatMap((name) => filesOf(`${path}/${name}`));
}

/** Whether a text has one of the words or a wide line anywhere. Parsing is slow, so the other files are not parsed. */
function mayBeWrong(text: string): boolean {
  const plain = text.replace(/^( *)\*/gmu, '$1 ').replaceAll('\\n', ' ');
  return plain.match(FORBIDDEN) !== null || plain.split('\n').some((line) => line.length > MAX_WIDTH);
}

function proseOf(path: string): readonly Prose[] {
  const text = read(path);
  if (CODE.test(path)) return proseOfCode(path, text);
  if (path.endsWith('.sql')) return proseOfSql(text);
  if (path.endsWith('.md')) return [{ line: 1, text: withoutCode(text), isComment: false }];
  if (!path.endsWith('.yaml')) return [];
  return text.split('\n').map((line, index) => ({ line: index + 1, text: line, isComment: false }));
}

const proseOfSql = (text: string): readonly Prose[] =>
  [...text.matchAll(/--.*/gu)].map(({ 0: comment, index }) => ({
    line: linesIn(text.slice(0, index)) + 1,
    text: comment,
    isComment: true,
  }));

/** Replaces generated tables and code by spaces, which keeps the lines. */
function withoutCode(text: string): string {
  const blank = (found: string): string => found.replace(/[^\n]/gu, ' ');
  return text.replace(GENERATED, blank).replace(FENCED, blank).replace(QUOTED, blank).replace(LINK_TARGET, blank);
}

/** The comments, and the strings of several words. */
function proseOfCode(path: string, text: string): readonly Prose[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  const comments = new Map<number, Prose>();
  const strings: Prose[] = [];
  /** Without the stars, so that words are found across lines. */
  const comment = (pos: number, end: number): Prose => {
    const prose = withoutCode(text.slice(pos, end)).replace(/^( *)\*/gmu, '$1 ');
    return { line: lineAt(pos), text: prose, isComment: true };
  };
  const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1;
  const visit = (node: Ts.Node): void => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [])
      comments.set(pos, comment(pos, end));
    for (const { pos, end } of ts.getTrailingCommentRanges(text, node.getEnd()) ?? [])
      comments.set(pos, comment(pos, end));
    if (isText(node) && / /u.test(node.text))
      strings.push({ line: lineAt(node.getStart(source)), text: withoutCode(node.text), isComment: false });
    for (const child of node.getChildren(source)) visit(child);
  };
  visit(source);
  return [...comments.values(), ...strings];
}

const isText = (node: Ts.Node): node is Ts.StringLiteral | Ts.TemplateLiteralLikeNode | Ts.JsxText =>
  ts.isStringLiteral(node) ||
  ts.isJsxText(node) ||
  ts.isTemplateLiteralToken(node) ||
  ts.isTemplateMiddleOrTemplateTail(node);

const linesIn = (text: string): number => text.split('\n').length - 1;

const files = readdirSync(ROOT)
  .filter((name) => !NOT_OURS.includes(name))
  .flatMap(filesOf)
  .filter((path) => !EXCLUDED.includes(path) && !MIGRATION.test(path) && mayBeWrong(read(path)))
  .map((path) => ({ path, prose: proseOf(path) }));

t.test('the glossary lists words, and the test finds them in comments and strings', async (t) => {
  t.ok(unused.length > 20);
  const found = (text: string) => proseOfCode('a.ts', text).filter(({ text }) => text.match(FORBIDDEN) !== null).length;
  t.equal(found('// Nobody waits.\nconst a = 1; // It goes on.\n/* And goes\n * on. */'), 3);
  t.equal(found("/** A limit. */\nt.test('the work goes\\non', () => fail('waits for ever'));"), 2);
  const page = proseOfCode('a.tsx', 'const a = <p title="waits for ever">it goes on</p>; // Nobody.');
  t.equal(page.filter(({ text }) => text.match(FORBIDDEN) !== null).length, 3);
  t.equal(found('// Runs `go on`.\nconst nobody = mend("gift");'), 0);
});

t.test('comments, messages, titles and docs use none of the words', async (t) => {
  const wrong = files.flatMap(({ path, prose }) =>
    prose.flatMap(({ line, text }) =>
      [...text.matchAll(FORBIDDEN)].map(
        ({ 0: words, index }) => `${path}:${line + linesIn(text.slice(0, index))}: ${words}`,
      ),
    ),
  );
  t.same(wrong, []);
});

t.test('comments are at most 120 columns wide', async (t) => {
  const wrong = files
    .filter(({ path }) => CODE.test(path))
    .flatMap(({ path, prose }) => {
      const lines = read(path).split('\n');
      return prose
        .filter(({ isComment }) => isComment)
        .flatMap(({ line, text }) => Array.from({ length: linesIn(text) + 1 }, (_, index) => line + index))
        .filter((line) => (lines[line - 1] ?? '').length > MAX_WIDTH)
        .map((line) => `${path}:${line}`);
    });
  t.same([...new Set(wrong)], []);
});

/** A reader sees the comment of one declaration alone, as an editor shows it, without the comment before it. */
t.test('a comment names its subject, instead of beginning with "Of", "Those" or "The same for"', async (t) => {
  const elliptic =
    /\/\*\*\s+(?:\*\s+)?(?:Of|Those|That of|The same,|The same (?:as|for|in|by|with|without|of|after))\s/gu;
  for (const text of ['Of the body. */', 'The same for logs. */', 'Those of a span. */'])
    t.ok(['/**', text].join(' ').search(elliptic) >= 0, text);
  const sources = ['src', 'test', 'bench'].flatMap(filesOf).filter((path) => CODE.test(path));
  const wrong = sources.flatMap((path) => {
    const text = read(path);
    return [...text.matchAll(elliptic)].map(({ index }) => `${path}:${linesIn(text.slice(0, index)) + 1}`);
  });
  t.same(wrong, []);
});

t.test('a file that a comment names exists', async (t) => {
  const named = /(?<![\w/.-])[\w-][\w./-]*\.(?:tsx?|sql)\b/gu;
  const paths = ['src', 'test', 'bench', 'scripts'].flatMap(filesOf);
  const isThere = (name: string): boolean => paths.some((path) => path === name || path.endsWith(`/${name}`));
  const commentsOf = (path: string): string =>
    [...read(path).matchAll(path.endsWith('.sql') ? /--.*/gu : /\/\*[\s\S]*?\*\/|(?:^|\s)\/\/.*/gmu)].join('\n');
  t.same(['pdata/layout.ts', 'usage.sql', 'test/architecture/words.test.ts', 'pdata/gone.ts', 'out.ts'].map(isThere), [
    true,
    true,
    true,
    false,
    false,
  ]);
  const wrong = paths
    .filter((path) => (CODE.test(path) || path.endsWith('.sql')) && !MIGRATION.test(path))
    .flatMap((path) =>
      (commentsOf(path).match(named) ?? []).filter((name) => !isThere(name)).map((name) => [path, name]),
    );
  t.same(wrong, []);
});
