// Installs Arize Phoenix, an AI back end that takes OTLP/HTTP, for the side-by-side benchmark.
import { printPythonProgram } from './python-program.js';

const VERSION = '20.26.1';

printPythonProgram({
  name: 'Phoenix',
  version: VERSION,
  packages: [`arize-phoenix[pg]==${VERSION}`],
  command: 'phoenix',
});
