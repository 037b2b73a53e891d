// Bundles src/extensions/console/web to the folder given as argument: `index.html`, `app-<hash>.js` and `.css`, the
// parts that are loaded on demand, a `.br` and a `.gz` of each, and the licences of the packages inside. Fails above
// the limits of size.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src/extensions/console/web');
const KB = 1000;
/** Bytes after gzip. */
const LIMITS = { 'JavaScript at the first load': 60 * KB, 'all JavaScript': 120 * KB, CSS: 12 * KB, HTML: 2 * KB };

/** The outputs that the entry loads at once: itself and its static imports. */
function firstLoad(outputs, entry) {
  const loaded = new Set();
  const visit = (path) => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const { path: next, kind } of outputs[path].imports) if (kind === 'import-statement') visit(next);
  };
  visit(entry);
  return [...loaded];
}

const gzip = (bytes) => gzipSync(bytes, { level: 9 });
const brotli = (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });

/** The licence files of every bundled package, by the package's name. */
function licences(inputs) {
  const packages = new Set(
    Object.keys(inputs).flatMap((path) => path.match(/.*node_modules\/(?:@[^/]+\/)?[^/]+/u)?.[0] ?? []),
  );
  return [...packages]
    .sort()
    .map((path) => {
      const folder = join(root, path);
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder).find((each) => /^licen[cs]e/iu.test(each));
      const text = file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), 'utf8').trim();
      return `${name} ${version}\n\n${text}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function checkSizes(sizes) {
  const over = Object.entries(sizes).filter(([what, size]) => size > LIMITS[what]);
  for (const [what, size] of Object.entries(sizes)) process.stdout.write(`${what}: ${size} of ${LIMITS[what]} bytes\n`);
  if (over.length === 0) return;
  process.stderr.write(`the page is too large: ${over.map(([what]) => what).join(', ')}\n`);
  process.exit(1);
}

/**
 * Each part that is loaded on demand also imports the page, which is there by then. So the page stays one file: esbuild
 * divides it by which parts use what, and several small files compress less.
 */
const importPageInParts = {
  name: 'import-page-in-parts',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) =>
      kind === 'dynamic-import' ? { path: join(resolveDir, path), pluginData: { isPart: true } } : undefined,
    );
    onLoad({ filter: /\.tsx?$/ }, ({ path, pluginData }) =>
      pluginData?.isPart === true
        ? {
            contents: `import ${JSON.stringify(join(source, 'app.tsx'))};\n${readFileSync(path, 'utf8')}`,
            loader: 'tsx',
          }
        : undefined,
    );
  },
};

const folder = process.argv[2];
const { outputFiles, metafile } = await build({
  absWorkingDir: root,
  entryPoints: { app: join(source, 'main.tsx') },
  outdir: folder,
  entryNames: '[name]-[hash]',
  chunkNames: 'part-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  jsx: 'automatic',
  jsxImportSource: 'preact',
  plugins: [importPageInParts],
  alias: { 'decode-named-character-reference': join(source, 'text/character-references.ts') },
  legalComments: 'none',
  charset: 'utf8',
  metafile: true,
  write: false,
  logLevel: 'error',
});
const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)]));
const nameOf = (extension) => [...files.keys()].find((name) => name.startsWith('app-') && name.endsWith(extension));
const entry = Object.keys(metafile.outputs).find((path) => basename(path) === nameOf('.js'));
const loadedFirst = firstLoad(metafile.outputs, entry).map((path) => basename(path));
/** The browser loads the parts together with the entry, not after it. */
const preloads = loadedFirst.filter((name) => name !== basename(entry));
const html = readFileSync(join(source, 'index.html'), 'utf8')
  .replace('/app.js', `/${nameOf('.js')}`)
  .replace('/app.css', `/${nameOf('.css')}`)
  .replace('</head>', `${preloads.map((name) => `<link rel="modulepreload" href="/${name}">\n`).join('')}</head>`);
files.set('index.html', Buffer.from(html));

const compressed = new Map([...files].map(([name, bytes]) => [name, gzip(bytes)]));
const total = (names) => names.reduce((sum, name) => sum + compressed.get(name).length, 0);
const scripts = [...files.keys()].filter((name) => extname(name) === '.js');
checkSizes({
  'JavaScript at the first load': total(loadedFirst),
  'all JavaScript': total(scripts),
  CSS: total([nameOf('.css')]),
  HTML: total(['index.html']),
});

if (existsSync(folder)) rmSync(folder, { recursive: true });
mkdirSync(folder, { recursive: true });
for (const [name, bytes] of files) {
  writeFileSync(join(folder, name), bytes);
  writeFileSync(join(folder, `${name}.gz`), compressed.get(name));
  writeFileSync(join(folder, `${name}.br`), brotli(bytes));
}
writeFileSync(join(folder, 'LICENSES.txt'), licences(metafile.inputs));
