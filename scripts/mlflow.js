// Installs MLflow, whose server takes OTLP/HTTP, for the side-by-side benchmark.
import { printPythonProgram } from './python-program.js';

const VERSION = '3.17.2';
const DRIVER_VERSION = '3.3.9';

printPythonProgram({
  name: 'MLflow',
  version: VERSION,
  packages: [`mlflow==${VERSION}`, `psycopg[binary]==${DRIVER_VERSION}`],
  command: 'mlflow',
});
