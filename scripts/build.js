// Builds dist/: the AssemblyScript wire module to WASM, the console's page to dist/web, and the TypeScript of src, test
// and bench. `--if-needed` returns at once when nothing changed since the last build; `--product` leaves out test and
// bench; `--unchecked` leaves out the check of types and the declarations, which take most of the time; `--quiet`
// prints problems only.
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const flags = new Set(process.argv.slice(2));
const product = flags.has('--product');
const unchecked = flags.has('--unchecked');
const stamp = join(dist, product ? '.built-product' : '.built');
const say = (line) => flags.has('--quiet') || process.stdout.write(`${line}\n`);

/** Every file below a folder, as absolute paths; none for a missing folder. */
function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

const newest = (paths) => paths.reduce((time, path) => Math.max(time, statSync(path).mtimeMs), 0);
const modified = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);

/** Runs one compiler to its end. A failure prints all of its output and ends the build. */
function run(name, script, args) {
  const started = Date.now();
  const child = spawn(process.execPath, [join(root, script), ...args], { cwd: root });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
  return new Promise((resolve) => {
    child.on('close', (code) => {
      if (code !== 0) {
        process.stderr.write(`${said}\nbuild: ${name} failed\n`);
        process.exit(1);
      }
      say(`build: ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
      resolve();
    });
  });
}

const sources = (product ? ['src'] : ['src', 'test', 'bench'])
  .flatMap((folder) => filesBelow(join(root, folder)))
  .filter((path) => !path.includes('fixtures'));
const compiledSources = sources
  .map((path) => relative(root, path))
  .filter((path) => /(?<!\.d)\.ts$/u.test(path) && !/^src\/(?:pdata\/wasm|extensions\/console\/web)\//u.test(path));
const newestSource = Math.max(
  newest(sources),
  modified(join(root, 'tsconfig.json')),
  modified(join(root, 'package-lock.json')),
);
if (flags.has('--if-needed') && modified(stamp) > newestSource) process.exit(0);
// A first `npm start` would be silent for a long time.
if (flags.has('--if-needed')) process.stderr.write('Building Sluice once, which takes about 15 seconds …\n');
if (!existsSync(join(root, 'node_modules/typescript'))) {
  process.stderr.write('build: the development packages are missing; run `npm ci` first\n');
  process.exit(1);
}

const wasm = join(dist, 'src/pdata/wasm/wire.wasm');
const wireSources = [
  ...filesBelow(join(root, 'src/pdata/wasm')),
  join(root, 'src/pdata/layout.ts'),
  join(root, 'scripts/build-wire.js'),
].filter((path) => existsSync(path));
mkdirSync(dirname(wasm), { recursive: true });
// The compilers are independent, and most machines have two cores.
const steps = [];
if (!unchecked) {
  const project = ['-p', product ? 'tsconfig.product.json' : 'tsconfig.json', '--emitDeclarationOnly'];
  steps.push(run('types', 'node_modules/typescript/bin/tsc', project));
}
if (modified(wasm) < newest(wireSources)) {
  steps.push(run('wire.wasm', 'scripts/build-wire.js', [dirname(wasm)]));
}
const page = join(dist, 'web/index.html');
const pageSources = [
  ...filesBelow(join(root, 'src/extensions/console/web')),
  ...filesBelow(join(root, 'src/messages')),
  join(root, 'scripts/build-web.js'),
  join(root, 'package-lock.json'),
];
if (modified(page) < newest(pageSources)) {
  steps.push(run('web', 'scripts/build-web.js', [dirname(page)]));
}
const checked = join(dist, '.checked-web');
if (!product && !unchecked && modified(checked) < newest(pageSources)) {
  const types = run('types of web', 'node_modules/typescript/bin/tsc', [
    '-p',
    'src/extensions/console/web/tsconfig.json',
  ]);
  steps.push(types.then(() => writeFileSync(checked, '')));
}
const tap = join(dist, 'node_modules/tap');
if (!product && modified(join(tap, 'index.js')) < modified(join(root, 'package-lock.json'))) {
  steps.push(run('tap', 'scripts/bundle-tap.js', [tap]));
}
const { transpile } = await import('./transpile.js');
await Promise.all([...steps, transpile(root, compiledSources)]);

// Files that are read at run time have the same place relative to the compiled source.
for (const path of filesBelow(join(root, 'src')).filter(
  (path) => /\.(sql|json|yaml)$/.test(path) && !/\/(?:as|ts)config\.json$/.test(path),
)) {
  const target = join(dist, relative(root, path));
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(path, target);
}
// Without its source, a compiled test must not pass and a migration must not be applied.
const made = [...filesBelow(join(dist, 'test')), ...filesBelow(join(dist, 'src'))];
for (const path of made.filter((path) => /\.(js|sql)$/.test(path))) {
  if (!existsSync(join(root, relative(dist, path)).replace(/\.js$/, '.ts'))) rmSync(path);
}
writeFileSync(stamp, '');
utimesSync(stamp, new Date(), new Date());
