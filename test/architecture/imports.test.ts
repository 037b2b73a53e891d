/** Checks the import table of the project for every import in `src`. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type Ts from 'typescript';

/** An import would search the whole compiler for names, which takes most of a second. */
const ts = createRequire(import.meta.url)('typescript') as typeof Ts;
const SRC = fileURLToPath(new URL('../../../src/', import.meta.url));

/** What each part may import of ours, besides itself. The command line may import everything. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  pdata: ['errors'],
  errors: [],
  client: [],
  component: ['pdata', 'errors'],
  net: ['component', 'errors'],
  dialects: ['pdata'],
  messages: ['pdata'],
  receivers: ['component', 'net', 'pdata', 'errors'],
  processors: ['component', 'net', 'pdata', 'errors', 'dialects'],
  'object-store': ['errors'],
  exporters: ['component', 'net', 'object-store', 'pdata', 'errors'],
  extensions: ['component', 'net', 'messages', 'pdata', 'errors'],
  config: ['component', 'errors'],
  archive: ['object-store', 'component', 'pdata', 'errors'],
  service: ['component', 'net', 'config', 'pdata', 'errors'],
  daemon: ['component', 'net', 'config', 'service', 'extensions', 'pdata', 'errors'],
  components: ['receivers', 'processors', 'exporters', 'extensions', 'component'],
  index: ['component', 'net', 'pdata', 'errors'],
};
const KINDS = ['receivers', 'processors', 'exporters', 'extensions'];
const COMMAND_LINE = 'cli';
/** The parts that may touch the process. The client runs in the process of an application. */
const PROCESS = [COMMAND_LINE, 'daemon', 'client'];
/** AssemblyScript: another compiler, imports without a suffix. */
const WASM = 'pdata/wasm/';

interface Module {
  readonly path: string;
  readonly source: Ts.SourceFile;
  /** What it imports, as written. */
  readonly imports: readonly string[];
}

const everything: readonly Module[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/u.test(path) && !path.endsWith('.d.ts'))
  .map((path) => {
    const source = ts.createSourceFile(path, readFileSync(join(SRC, path), 'utf8'), ts.ScriptTarget.ES2022, true);
    return { path, source, imports: importsOf(source) };
  });
/** The console's page, which runs in a browser. */
const WEB = 'extensions/console/web/';
/** What the page imports from outside its folder: the types of answers, the reading of messages, numbers and texts. */
const WEB_IMPORTS =
  /^(?:extensions\/console\/(?:web\/|api\/shapes\/)|messages\/|pdata\/(?:exact-json|cost-sum|short-numbers|time-units|untrusted-text)\.ts$)/u;
const isWeb = ({ path }: Module): boolean => path.startsWith(WEB);
const isWasm = ({ path }: Module): boolean => path.startsWith(WASM);
const modules = everything.filter((module) => !isWasm(module));

const partOf = (path: string): string => (path.split('/')[0] ?? '').replace(/\.ts$/u, '');
const unitOf = (path: string): string => path.split('/').slice(0, 2).join('/');

function importsOf(source: Ts.SourceFile): readonly string[] {
  const found: string[] = [];
  const visit = (node: Ts.Node): void => {
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
  module.imports
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => relative(SRC, resolve(SRC, dirname(module.path), specifier)));

t.ok(modules.length > 30, 'the sources were found');

t.test('every part imports only the parts that the table allows', async (t) => {
  const wrong = modules
    .filter(({ path }) => partOf(path) !== COMMAND_LINE)
    .flatMap((module) => {
      const from = partOf(module.path);
      const allowed = [...(ALLOWED[from] ?? []), from];
      return ours(module)
        .filter((target) => !allowed.includes(partOf(target)))
        .map((target) => `${module.path} imports ${target}`);
    });
  t.same(wrong, []);
});

t.test('the WASM sources import only the layout of the tables', async (t) => {
  const wrong = everything.filter(isWasm).flatMap((module) =>
    ours(module)
      .filter((target) => !target.startsWith(WASM) && target !== 'pdata/layout')
      .map((target) => `${module.path} imports ${target}`),
  );
  t.same(wrong, []);
});

t.test(
  'the page imports the types of answers and the reading of messages only, and is imported by nothing',
  async (t) => {
    const wrong = modules.flatMap((module) =>
      ours(module)
        .filter((target) => (isWeb(module) ? !WEB_IMPORTS.test(target) : target.startsWith(WEB)))
        .map((target) => `${module.path} imports ${target}`),
    );
    t.same(wrong, []);
  },
);

/** Names that make HTML, styles or code of a text. */
const FROM_TEXT =
  /\b(?:dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|setHTMLUnsafe|document\.write|DOMParser|srcdoc|eval\(|new Function)/u;

t.test('the page makes no HTML of a text', async (t) => {
  const wrong = modules.filter((module) => isWeb(module) && FROM_TEXT.test(module.source.getFullText()));
  t.same(
    wrong.map(({ path }) => path),
    [],
  );
});

t.test('no import circle', async (t) => {
  t.same(circlesOf(new Map(everything.map((module) => [module.path, ours(module).map(withSuffix)]))), []);
});

const withSuffix = (path: string): string => (/\.(?:tsx?|css)$/u.test(path) ? path : `${path}.ts`);

/** The circles that a depth-first search finds, each with its files in order. Imports of types count. */
function circlesOf(imports: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (path: string, way: readonly string[]): void => {
    const at = way.indexOf(path);
    if (at >= 0) circles.push([...way.slice(at), path].join(' -> '));
    if (at >= 0 || done.has(path)) return;
    for (const target of imports.get(path) ?? []) walk(target, [...way, path]);
    done.add(path);
  };
  for (const path of imports.keys()) walk(path, []);
  return circles;
}

t.test('the test of circles finds one', async (t) => {
  const imports = new Map([
    ['a', ['b']],
    ['b', ['c']],
    ['c', ['b']],
  ]);
  t.same(circlesOf(imports), ['b -> c -> b']);
});

t.test('only pdata computes addresses of the tables', async (t) => {
  const wrong = modules.filter(
    ({ path, source }) =>
      partOf(path) !== 'pdata' &&
      /\b[A-Z0-9_]+_(?:BASE|STRIDE)\b/u.test(source.getFullText().replace(/\/\*.*?\*\//gsu, '')),
  );
  t.same(
    wrong.map(({ path }) => path),
    [],
  );
});

t.test('components do not import their siblings', async (t) => {
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
    [...parts].filter((part) => part !== COMMAND_LINE && ALLOWED[part] === undefined),
    [],
  );
});

t.test('imports stay inside src, have their suffix, and there is no default export', async (t) => {
  const wrong = modules.flatMap((module) => {
    const { path, source, imports } = module;
    const suffix = isWeb(module) ? /\.(?:tsx?|css)$/u : /\.ts$/u;
    const bare = imports.filter((specifier) => specifier.startsWith('.') && !suffix.test(specifier));
    const outside = ours(module).filter((target) => target.startsWith('..'));
    return [
      ...bare.map((specifier) => `${path} imports ${specifier}`),
      ...outside.map((target) => `${path} leaves src for ${target}`),
      ...(source.statements.some(ts.isExportAssignment) ? [`${path} has a default export`] : []),
    ];
  });
  t.same(wrong, []);
});

/** Names that are used as values, not as property names. */
function usesGlobal({ source }: Module, name: string): boolean {
  let used = false;
  const declared = new Set<string>();
  const visit = (node: Ts.Node): void => {
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

function isValue(node: Ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isMethodSignature(parent) || ts.isMethodDeclaration(parent) || ts.isPropertySignature(parent)) return false;
  return !ts.isPropertyAssignment(parent) && !ts.isPropertyDeclaration(parent) && !ts.isQualifiedName(parent);
}

/** What applications install for the client. Its other imports are of Node. */
const CLIENT_PACKAGES = /^(?:node:|@opentelemetry\/|\.\/)/u;

t.test('the client imports no package of the daemon, and the daemon not the client', async (t) => {
  const client = modules.filter(({ path }) => partOf(path) === 'client');
  const others = modules.filter((module) => !client.includes(module));
  t.ok(client.length > 5);
  t.same(
    client.flatMap(({ imports }) => imports).filter((specifier) => !CLIENT_PACKAGES.test(specifier)),
    [],
  );
  t.same(
    others.filter((module) => ours(module).some((target) => partOf(target) === 'client')).map(({ path }) => path),
    [],
  );
});

t.test('only the command line, the daemon and the client touch the process', async (t) => {
  const wrong = modules
    .filter((module) => !PROCESS.includes(partOf(module.path)) && usesGlobal(module, 'process'))
    .map(({ path }) => path);
  t.same(wrong, []);
  const imported = modules.filter(
    (module) =>
      !PROCESS.includes(partOf(module.path)) && module.imports.some((each) => /^(node:)?process$/u.test(each)),
  );
  t.same(
    imported.map(({ path }) => path),
    [],
  );
});

t.test('importing a module does no work: its top level only declares', async (t) => {
  const wrong = modules
    .filter(({ path }) => path !== `${WEB}main.tsx`)
    .flatMap(({ path, source }) =>
      source.statements
        .filter((statement) => !isDeclaration(statement))
        .map((statement) => `${path}: ${statement.getText().split('\n')[0] ?? ''}`),
    );
  t.same(wrong, []);
});

function isDeclaration(statement: Ts.Statement): boolean {
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

/** Await, reading, listening or timers in an initializer. The body of a function does not run at import. */
function doesInput(node: Ts.Node): boolean {
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

t.test('no generator function is made within a function', async (t) => {
  const wrong = modules.flatMap(({ path, source }) => {
    const found: string[] = [];
    const visit = (node: Ts.Node, depth: number): void => {
      const isNested = depth > 0 && (ts.isFunctionExpression(node) || ts.isFunctionDeclaration(node));
      if (isNested && node.asteriskToken !== undefined) found.push(`${path}: ${node.getText().split('\n')[0] ?? ''}`);
      ts.forEachChild(node, (child) => visit(child, depth + (ts.isFunctionLike(node) ? 1 : 0)));
    };
    visit(source, 0);
    return found;
  });
  // The engine makes a prototype and a map for each, and only a full collection frees them: 2 KiB a request.
  t.same(wrong, []);
});
