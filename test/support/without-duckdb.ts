/** Loaded into a process: the optional package is not installed. */
import { register } from 'node:module';

const HOOKS = `export function resolve(name, context, next) {
  if (name === '@duckdb/node-api') throw new Error('Cannot find package');
  return next(name, context);
}`;
register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);
