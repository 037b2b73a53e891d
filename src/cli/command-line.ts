/** The command line of this process, to show the operator further commands in a form that can be pasted. */
import { basename, relative } from 'node:path';
import type { Call } from './command.ts';

/** A complete command line for another command on the same configuration. */
export function commandLine({ process, values }: Call, words: string): string {
  const files = values.list('config').map((file) => ` --config ${file}`);
  return `${programOf(process)} ${words}${files.join('')}`;
}

function programOf(process: NodeJS.Process): string {
  const script = process.argv[1] ?? 'sluice';
  if (basename(script) === 'sluice') return script.includes('node_modules') ? 'npx sluice' : 'sluice';
  const near = relative(process.cwd(), script);
  return `node ${near.startsWith('..') ? script : near}`;
}
