/** Parses the options of a benchmark. Its usage is the comment at the start of its file. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs, type ParseArgsConfig } from 'node:util';

const USER_MISTAKE = 2;
const HEADER = /^\/\*\*\n([\s\S]*?)\n \*\/$/m;

/** Ends the process for `--help` with the usage, for an unknown option with one line and exit code 2. */
export function readArguments<const T extends ParseArgsConfig>(
  url: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  if (process.argv.includes('--help')) {
    process.stdout.write(`${usageOf(url)}\n`);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    refuseArguments(error instanceof Error ? error.message : String(error));
  }
}

/** For errors that only the benchmark can find, for example an unknown name. */
export function refuseArguments(message: string): never {
  const [sentence = ''] = message.split(/\.? (?:To specify|See)/, 1);
  process.stderr.write(`${sentence}; --help tells what there is\n`);
  process.exit(USER_MISTAKE);
}

/** The compiled file still has the comment. */
function usageOf(url: string): string {
  const comment = HEADER.exec(readFileSync(fileURLToPath(url), 'utf8'))?.[1] ?? '';
  return comment.replace(/^ \* ?/gm, '');
}
