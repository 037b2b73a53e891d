// Compiles src/pdata/wasm to two modules: `wire.wasm`, and `wire-pausing.wasm`, whose calls the host can pause and
// resume. Both come from one compilation: the imported constant `host.pauses` becomes a constant of each module. `node
// scripts/build-wire.js <folder>` writes both into the folder.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// Binaryen is itself a WASM module. Optimizing its code takes longer than running it once with simple code. The
// compiler uses the same instance, in this process.
setFlagsFromString('--liftoff-only');
const { default: binaryen } = await import('binaryen');
const { default: asc } = await import('assemblyscript/asc');

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

/**
 * Settings of Binaryen that the compiler changes. The modules are optimized with the default values. The compiler's
 * limits of inlined functions stay: inside its caller, a large function has fewer registers for its loops.
 */
const SETTINGS = [
  'TrapsNeverHappen',
  'ClosedWorld',
  'LowMemoryUnused',
  'ZeroFilledMemory',
  'FastMath',
  'GenerateStackIR',
  'OptimizeStackIR',
  'DebugInfo',
  'AllowInliningFunctionsWithLoops',
];

async function compile() {
  const defaults = SETTINGS.map((name) => [name, binaryen[`get${name}`]()]);
  const outputs = new Map();
  const args = ['src/pdata/wasm/index.ts', '--config', 'src/pdata/wasm/asconfig.json', '--outFile', 'wire.wasm'];
  const { error, stderr } = await asc.main([...args, '--baseDir', root], {
    writeFile: (name, contents) => void outputs.set(name, contents),
  });
  process.stderr.write(stderr.toString());
  if (error !== null) throw error;
  for (const [name, value] of defaults) binaryen[`set${name}`](value);
  binaryen.clearPassArguments();
  return outputs.get('wire.wasm');
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
const bytes = await compile();
write(bytes, true, 'wire-pausing.wasm');
// Written last, because the build compares its modification time.
write(bytes, false, 'wire.wasm');
