/** The help texts, generated from the declarations of the commands. */
import type { CommandEntry, LoadedCommand } from './command.ts';
import { flagOption, type Option, type Options } from './options.ts';
import type { Terminal } from './terminal.ts';
import { pad, widthOf, wrap } from './view/screen-text.ts';

const INDENT = '  ';
const GAP = '  ';
/** Texts are written for this width. */
const WRITTEN_WIDTH = 120;
/** No help text has so many lines. */
const MOST_LINES = 1000;

/** What a help text needs of the terminal. */
type Page = Pick<Terminal, 'style' | 'tableWidth'>;

const commandRows = (commands: readonly CommandEntry[]): readonly (readonly string[])[] =>
  commands.map(({ name, words = '', summary }) => [`${name} ${words}`.trimEnd(), summary]);

/** `sluice key --help`: the commands that begin with this word. */
export function groupHelp(group: string, members: readonly CommandEntry[], { style, tableWidth }: Page): string {
  return [
    `${style.bold('Usage')}\n  sluice ${group} <command> [options]`,
    '',
    `${style.bold('Commands')}\n${pairs(commandRows(members), tableWidth)}`,
    '',
    '`sluice help <command>` describes a command.',
  ].join('\n');
}

export function overviewHelp(commands: readonly CommandEntry[], { style, tableWidth }: Page): string {
  return [
    paragraphs('Sluice receives AI telemetry as OTLP, prices it, and answers after it is stored.', tableWidth),
    '',
    `${style.bold('Usage')}\n  sluice [command] [options]`,
    '',
    `${style.bold('Commands')}\n${pairs(commandRows(commands), tableWidth)}`,
    '',
    `${style.bold('Options')}\n${pairs(optionRows(ROOT_OPTIONS), tableWidth)}`,
    '',
    paragraphs('Without a command, Sluice runs. `sluice help <command>` describes a command.', tableWidth),
  ].join('\n');
}

export const ROOT_OPTIONS = {
  help: flagOption('Show help', { short: 'h' }),
  version: flagOption('Show the version', { short: 'v' }),
};

export function commandHelp(command: LoadedCommand, { style, tableWidth }: Page): string {
  const { name, summary, words = '', description, options, examples } = command;
  const all = { ...options, help: ROOT_OPTIONS.help };
  return [
    paragraphs(`${summary}.`, tableWidth),
    '',
    `${style.bold('Usage')}\n  ${`sluice ${name} ${words}`.trimEnd()} [options]`,
    ...(description === undefined ? [] : ['', paragraphs(description, tableWidth)]),
    '',
    `${style.bold('Options')}\n${pairs(optionRows(all), tableWidth)}`,
    '',
    `${style.bold('Examples')}\n${examples.map(([line, what]) => `  ${style.dim(`# ${what}`)}\n  ${line}`).join('\n')}`,
  ].join('\n');
}

/** Rows of a name and a text, which is broken to the width of the terminal. A long name has its own line. */
function pairs(rows: readonly (readonly string[])[], width: number): string {
  const column = Math.max(...rows.map(([name = '']) => widthOf(name)).filter((name) => name <= width / 2));
  const room = width - INDENT.length - column - GAP.length;
  const lines = rows.flatMap(([name = '', text = '']) => {
    const isLong = widthOf(name) > column;
    const texts = linesOf(text, room).map(
      (line, index) => pad(index === 0 && !isLong ? name : '', column) + GAP + line,
    );
    return isLong ? [name, ...texts] : texts;
  });
  return lines.map((line) => INDENT + line.trimEnd()).join('\n');
}

/** Paragraphs are filled again for a narrower terminal. */
function paragraphs(text: string, width: number): string {
  if (width >= WRITTEN_WIDTH) return text;
  const filled = text.split('\n\n').map((each) => linesOf(each.replaceAll('\n', ' '), width).join('\n'));
  return filled.join('\n\n');
}

const linesOf = (text: string, width: number): readonly string[] =>
  widthOf(text) <= width ? [text] : wrap(text, width, MOST_LINES).lines;

/** What applies without the option; undefined when nothing does. */
export const fallbackOf = (option: Option): string | undefined => option.default ?? option.otherwise;

function optionRows(options: Options): readonly (readonly string[])[] {
  return Object.entries(options).map(([name, option]) => {
    const { short, value, description } = option;
    const spelling = `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
    const fallback = fallbackOf(option);
    return [spelling, fallback === undefined ? description : `${description} (default: ${fallback})`];
  });
}
