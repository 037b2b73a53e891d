// Compiles TypeScript files to JavaScript with source maps, without a check of types. The compiler of TypeScript takes
// more than ten times as long for the same output.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { build } from 'esbuild';

/** Relative specifiers in the output of esbuild: those of statements, and those of calls of `import`. */
const SPECIFIERS = [
  /^((?:import |(?:import|export) [\w$*{},\s]+ from )"\.\.?\/[^"\n]*)\.ts"/gmu,
  /(\bimport\("\.\.?\/[^"\n]*)\.ts"/gu,
];

/** Writes the compiled `files`, which are relative to the root, below `dist` of the root. */
export async function transpile(root, files) {
  const { compilerOptions } = JSON.parse(readFileSync(new URL('../tsconfig.json', import.meta.url), 'utf8'));
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: files,
    outbase: '.',
    outdir: 'dist',
    format: 'esm',
    target: compilerOptions.target,
    charset: 'utf8',
    sourcemap: true,
    sourcesContent: false,
    tsconfigRaw: { compilerOptions: { target: compilerOptions.target, verbatimModuleSyntax: true } },
    write: false,
    logLevel: 'error',
  });
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    // A specifier has the same length afterwards, so the source map stays correct.
    writeFileSync(
      path,
      SPECIFIERS.reduce((code, pattern) => code.replace(pattern, '$1.js"'), text),
    );
  }
}
