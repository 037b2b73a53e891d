/** The command line of this process, to show the operator further commands in a form that can be pasted. */
import { basename, relative } from 'node:path';
import { shellWord } from '../daemon/shell-word.ts';
import type { Call } from './command.ts';
import { configWords } from './config-options.ts';

/** A setting of such an option is not shown: these lines may get into a log. */
const SECRET_SETTING = /(?:key|password|secret|token|headers)[^.=]*=|:\/\/[^/]*@/iu;

/** A complete command line for another command on the same configuration. */
export function commandLine({ process, values }: Call, words: string): string {
  const given = configWords(values).map((word) => shellWord(SECRET_SETTING.test(word) ? hideValue(word) : word));
  return [programOf(process), words, ...given].join(' ');
}

const hideValue = (setting: string): string => setting.replace(/=.*$/su, '=…');

function programOf(process: NodeJS.Process): string {
  const script = process.argv[1] ?? 'sluice';
  if (basename(script) === 'sluice') return script.includes('node_modules') ? 'npx sluice' : 'sluice';
  const near = relative(process.cwd(), script);
  return `node ${shellWord(near.startsWith('..') ? script : near)}`;
}
