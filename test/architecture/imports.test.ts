/** The import table of the project, held over every import in `src`. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import ts from 'typescript';

const SRC = fileURLToPath(new URL('../../../src/', import.meta.url));

/** What each part may import of ours, besides itself. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  model: [],
  errors: [],
  component: ['model', 'errors'],
  otlp: ['model', 'errors', 'wire'],
  receivers: ['component', 'model', 'errors', 'otlp'],
  // What is known of the senders' conventions, as tables; several processors need it.
  dialects: ['model'],
  processors: ['component', 'model', 'errors', 'otlp', 'dialects'],
  exporters: ['component', 'model', 'errors', 'otlp'],
  extensions: ['component', 'model', 'errors', 'otlp'],
  config: ['component', 'errors'],
  service: ['component', 'config', 'model', 'errors', 'otlp'],
  components: ['receivers', 'processors', 'exporters', 'extensions', 'component'],
  sluice: ['component', 'model', 'errors'],
};
const KINDS = ['receivers', 'processors', 'exporters', 'extensions'];
/** Compiled by another compiler, with rules of its own. */
const WIRE = 'wire';

interface Module {
  readonly path: string;
  readonly source: ts.SourceFile;
}

const modules: readonly Module[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts') && !path.startsWith(`${WIRE}/`))
  .map((path) => ({
    path,
    source: ts.createSourceFile(path, readFileSync(join(SRC, path), 'utf8'), ts.ScriptTarget.ES2022, true),
  }));

const partOf = (path: string): string => (path.split('/')[0] ?? '').replace(/\.ts$/u, '');
const unitOf = (path: string): string => path.split('/').slice(0, 2).join('/');

function importsOf({ source }: Module): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const named = ts.isImportDeclaration(node) || ts.isExportDeclaration(node) ? node.moduleSpecifier : undefined;
    const dynamic =
      ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword ? node.arguments[0] : undefined;
    const specifier = named ?? dynamic;
    if (specifier !== undefined && ts.isStringLiteral(specifier)) found.push(specifier.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const ours = (module: Module): readonly string[] =>
  importsOf(module)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => relative(SRC, resolve(SRC, dirname(module.path), specifier)));

t.ok(modules.length > 30, 'the sources were found');

t.test('every part imports only what the table allows', async (t) => {
  const wrong = modules
    .filter(({ path }) => partOf(path) !== 'cli')
    .flatMap((module) => {
      const from = partOf(module.path);
      const allowed = [...(ALLOWED[from] ?? []), from];
      return ours(module)
        .filter((target) => !allowed.includes(partOf(target)))
        .map((target) => `${module.path} imports ${target}`);
    });
  t.same(wrong, []);
});

t.test('components are strangers to their siblings', async (t) => {
  const wrong = modules
    .filter(({ path }) => KINDS.includes(partOf(path)))
    .flatMap((module) =>
      ours(module)
        .filter((target) => KINDS.includes(partOf(target)) && unitOf(target) !== unitOf(module.path))
        .map((target) => `${module.path} imports ${target}`),
    );
  t.same(wrong, []);
});

t.test('every part has a row in the table', async (t) => {
  const parts = new Set(modules.map(({ path }) => partOf(path)));
  t.same(
    [...parts].filter((part) => part !== 'cli' && ALLOWED[part] === undefined),
    [],
  );
});

t.test('imports stay inside src, have their suffix, and there is no default export', async (t) => {
  for (const module of modules) {
    for (const specifier of importsOf(module).filter((each) => each.startsWith('.'))) {
      t.match(specifier, /\.ts$/u, `${module.path}: ${specifier}`);
    }
    for (const target of ours(module)) t.notMatch(target, /^\.\./u, `${module.path} leaves src`);
    const exported = module.source.statements.some(ts.isExportAssignment);
    t.notOk(exported, `${module.path} has a default export`);
  }
});

/** Names that are looked up as values, not as properties of something else. */
function usesGlobal({ source }: Module, name: string): boolean {
  let used = false;
  const declared = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (
      (ts.isParameter(node) || ts.isVariableDeclaration(node) || ts.isBindingElement(node)) &&
      ts.isIdentifier(node.name)
    ) {
      declared.add(node.name.text);
    }
    if (ts.isIdentifier(node) && node.text === name && isValue(node)) used = true;
    ts.forEachChild(node, visit);
  };
  visit(source);
  return used && !declared.has(name);
}

function isValue(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isMethodSignature(parent) || ts.isMethodDeclaration(parent) || ts.isPropertySignature(parent)) return false;
  return !ts.isPropertyAssignment(parent) && !ts.isPropertyDeclaration(parent) && !ts.isQualifiedName(parent);
}

t.test('only the command line touches the process', async (t) => {
  const wrong = modules
    .filter((module) => partOf(module.path) !== 'cli' && usesGlobal(module, 'process'))
    .map(({ path }) => path);
  t.same(wrong, []);
  const imported = modules.filter(
    (module) => partOf(module.path) !== 'cli' && importsOf(module).some((each) => /^(node:)?process$/u.test(each)),
  );
  t.same(
    imported.map(({ path }) => path),
    [],
  );
});

t.test('importing a module does no work: its top level only declares', async (t) => {
  const wrong = modules.flatMap(({ path, source }) =>
    source.statements
      .filter((statement) => !isDeclaration(statement))
      .map((statement) => `${path}: ${statement.getText().split('\n')[0] ?? ''}`),
  );
  t.same(wrong, []);
});

function isDeclaration(statement: ts.Statement): boolean {
  if (ts.isVariableStatement(statement)) {
    const constant = (statement.declarationList.flags & ts.NodeFlags.Const) !== 0;
    return (
      constant &&
      !statement.declarationList.declarations.some(
        ({ initializer }) => initializer !== undefined && doesInput(initializer),
      )
    );
  }
  return (
    ts.isImportDeclaration(statement) ||
    ts.isExportDeclaration(statement) ||
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isModuleDeclaration(statement)
  );
}

/** Awaiting, reading, listening or timers in an initializer; what is inside a function runs later. */
function doesInput(node: ts.Node): boolean {
  if (ts.isFunctionLike(node)) return false;
  if (ts.isAwaitExpression(node)) return true;
  const called = ts.isCallExpression(node) ? node.expression.getText() : '';
  if (
    /(?:^|\.)(?:readFileSync|readFile|existsSync|statSync|openSync|createServer|listen|connect|setInterval|setTimeout|spawn\w*|exec\w*Sync)$/u.test(
      called,
    )
  )
    return true;
  return ts.forEachChild(node, (child) => (doesInput(child) ? true : undefined)) ?? false;
}
