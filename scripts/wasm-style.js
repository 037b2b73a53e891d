// Formats and lints src/pdata/wasm with biome, which cannot parse decorators of functions: AssemblyScript's `@inline`
// and `@external` are comments while biome reads a copy of the files. `--write` writes what biome changes; without it,
// a difference is a failure.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = 'src/pdata/wasm';
const isWrite = process.argv.includes('--write');
const hidden = (text) => text.replace(/^( *)@(?=[a-z])/gm, '$1//@');
const shown = (text) => text.replace(/^( *)\/\/@(?=[a-z])/gm, '$1@');

/** The project's rules, without those that do not hold for AssemblyScript. */
function configuration() {
  const { formatter, javascript, linter, assist } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'));
  const rules = linter.rules;
  const off = {
    // Numbers have types, so nothing is converted: `==` and `isNaN` are exact. `===` compares references.
    suspicious: { ...rules.suspicious, noDoubleEquals: 'off', noGlobalIsNan: 'off', noTsIgnore: 'off' },
    // Integers of 64 bits are exact. A function without a result may return the call of another one.
    correctness: { noPrecisionLoss: 'off', noVoidTypeReturn: 'off' },
  };
  return { root: true, formatter, javascript, assist, linter: { ...linter, rules: { ...rules, ...off } } };
}

const paths = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.ts'),
);
const copy = mkdtempSync(join(tmpdir(), 'wasm-style-'));
try {
  writeFileSync(join(copy, 'biome.json'), JSON.stringify(configuration()));
  for (const path of paths) {
    mkdirSync(dirname(join(copy, folder, path)), { recursive: true });
    writeFileSync(join(copy, folder, path), hidden(readFileSync(join(root, folder, path), 'utf8')));
  }
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  const { status } = spawnSync(
    process.execPath,
    [biome, 'check', ...(isWrite ? ['--write'] : []), '--max-diagnostics=none', '--error-on-warnings', folder],
    { cwd: copy, stdio: 'inherit' },
  );
  process.exitCode = status ?? 1;
  for (const path of isWrite ? paths : []) {
    const text = shown(readFileSync(join(copy, folder, path), 'utf8'));
    if (text !== readFileSync(join(root, folder, path), 'utf8')) writeFileSync(join(root, folder, path), text);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
