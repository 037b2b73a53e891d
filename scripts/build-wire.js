// Compiles src/pdata/wasm to two modules: `wire.wasm`, and `wire-pausing.wasm`, whose calls the host can pause and
// resume. Both come from one compilation: the imported constant `host.pauses` becomes a constant of each module. `node
// scripts/build-wire.js <folder>` writes both into the folder.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import binaryen from 'binaryen';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = process.argv[2];
const { Features } = binaryen;
/** The WebAssembly features of the compiler: its defaults and those of `asconfig.json`. */
const FEATURES = [
  Features.BulkMemory,
  Features.BulkMemoryOpt,
  Features.MutableGlobals,
  Features.NontrappingFPToInt,
  Features.SIMD128,
  Features.SignExt,
].reduce((all, feature) => all | feature);

function compile() {
  const output = relative(root, join(folder, 'wire-unset.wasm'));
  const compiler = join(root, 'node_modules/assemblyscript/bin/asc.js');
  const config = ['--config', 'src/pdata/wasm/asconfig.json', '--outFile', output];
  execFileSync(process.execPath, [compiler, 'src/pdata/wasm/index.ts', ...config], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const bytes = readFileSync(join(root, output));
  rmSync(join(root, output));
  return bytes;
}

/** The module with `host.pauses` as a constant, optimized for it. */
function write(bytes, pauses, name) {
  const module = binaryen.readBinary(bytes);
  module.setFeatures(FEATURES);
  for (let index = 0; index < module.getNumGlobals(); index++) {
    const info = binaryen.getGlobalInfo(module.getGlobalByIndex(index));
    if (info.module !== 'host' || info.base !== 'pauses') continue;
    module.removeGlobal(info.name);
    module.addGlobal(info.name, binaryen.i32, false, module.i32.const(pauses ? 1 : 0));
  }
  binaryen.setOptimizeLevel(3);
  binaryen.setShrinkLevel(0);
  module.runPasses(['simplify-globals-optimizing', 'remove-unused-module-elements']);
  if (pauses) {
    binaryen.setPassArgument('asyncify-imports', 'host.pause');
    binaryen.setPassArgument('asyncify-ignore-indirect', '');
    module.runPasses(['asyncify']);
  }
  module.optimize();
  if (!module.validate()) throw new Error(`${name} is not valid`);
  writeFileSync(join(folder, name), module.emitBinary());
  module.dispose();
}

mkdirSync(folder, { recursive: true });
const bytes = compile();
write(bytes, true, 'wire-pausing.wasm');
// Written last, because the build compares its modification time.
write(bytes, false, 'wire.wasm');
