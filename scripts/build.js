// Builds dist/: the AssemblyScript wire module to WASM, then the TypeScript of src, test and bench.
// `--if-needed` returns at once when nothing changed since the last build; `--quiet` prints problems only.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const stamp = join(dist, '.built');
const flags = new Set(process.argv.slice(2));
const say = (line) => flags.has('--quiet') || process.stdout.write(`${line}\n`);

/** Every file below a folder, as absolute paths; a missing folder has none. */
function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

const newest = (paths) => paths.reduce((time, path) => Math.max(time, statSync(path).mtimeMs), 0);
const modified = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);

function run(name, script, args) {
  const started = Date.now();
  const result = spawnSync(process.execPath, [join(root, 'node_modules', script), ...args], {
    cwd: root,
    encoding: 'utf8',
  });
  if (result.status !== 0) {
    process.stderr.write(`${result.stdout}${result.stderr}\nbuild: ${name} failed\n`);
    process.exit(1);
  }
  say(`build: ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
}

const sources = ['src', 'test', 'bench']
  .flatMap((folder) => filesBelow(join(root, folder)))
  .filter((path) => !path.includes('fixtures'));
const newestSource = Math.max(
  newest(sources),
  modified(join(root, 'tsconfig.json')),
  modified(join(root, 'package-lock.json')),
);
if (flags.has('--if-needed') && modified(stamp) > newestSource) process.exit(0);
if (!existsSync(join(root, 'node_modules/typescript'))) {
  process.stderr.write('build: the development packages are missing; run `npm ci` first\n');
  process.exit(1);
}

const wasm = join(dist, 'src/wire/wire.wasm');
const wireSources = [...filesBelow(join(root, 'src/wire')), join(root, 'src/model/layout.ts')].filter((path) =>
  existsSync(path),
);
mkdirSync(dirname(wasm), { recursive: true });
if (modified(wasm) < newest(wireSources)) {
  run('wire.wasm', 'assemblyscript/bin/asc.js', [
    'src/wire/index.ts',
    '--config',
    'src/wire/asconfig.json',
    '--outFile',
    relative(root, wasm),
  ]);
}
run('typescript', 'typescript/bin/tsc', ['-p', 'tsconfig.json']);

// Files that are read at run time, not compiled, keep their place relative to the compiled source.
for (const path of filesBelow(join(root, 'src')).filter(
  (path) => /\.(sql|json|yaml)$/.test(path) && !path.endsWith('asconfig.json'),
)) {
  const target = join(dist, relative(root, path));
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(path, target);
}
// A compiled test whose source is gone must not go on passing.
for (const path of filesBelow(join(dist, 'test')).filter((path) => path.endsWith('.js'))) {
  if (!existsSync(join(root, relative(dist, path)).replace(/\.js$/, '.ts'))) rmSync(path);
}
writeFileSync(stamp, '');
utimesSync(stamp, new Date(), new Date());
