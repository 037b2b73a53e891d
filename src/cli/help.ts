/** The help texts, generated from the declarations of the commands. */
import type { CommandEntry, LoadedCommand } from './command.ts';
import { flagOption, type Option, type Options } from './options.ts';
import { layOut, type Style } from './terminal.ts';

const commandRows = (commands: readonly CommandEntry[]): readonly (readonly string[])[] =>
  commands.map(({ name, words = '', summary }) => [`${name} ${words}`.trimEnd(), summary]);

/** `sluice key --help`: the commands that begin with this word. */
export function groupHelp(group: string, members: readonly CommandEntry[], style: Style): string {
  return [
    `${style.bold('Usage')}\n  sluice ${group} <command> [options]`,
    '',
    `${style.bold('Commands')}\n${layOut(commandRows(members), '  ')}`,
    '',
    '`sluice help <command>` describes a command.',
  ].join('\n');
}

export function overviewHelp(commands: readonly CommandEntry[], style: Style): string {
  return [
    'Sluice receives AI telemetry as OTLP, prices it, and answers after it is stored.',
    '',
    `${style.bold('Usage')}\n  sluice [command] [options]`,
    '',
    `${style.bold('Commands')}\n${layOut(commandRows(commands), '  ')}`,
    '',
    `${style.bold('Options')}\n${layOut(optionRows(ROOT_OPTIONS), '  ')}`,
    '',
    'Without a command, Sluice runs. `sluice help <command>` describes a command.',
  ].join('\n');
}

export const ROOT_OPTIONS = {
  help: flagOption('Show help', { short: 'h' }),
  version: flagOption('Show the version', { short: 'v' }),
};

export function commandHelp(command: LoadedCommand, style: Style): string {
  const { name, summary, words = '', description, options, examples } = command;
  const all = { ...options, help: ROOT_OPTIONS.help };
  return [
    `${summary}.`,
    '',
    `${style.bold('Usage')}\n  ${`sluice ${name} ${words}`.trimEnd()} [options]`,
    ...(description === undefined ? [] : ['', description]),
    '',
    `${style.bold('Options')}\n${layOut(optionRows(all), '  ')}`,
    '',
    `${style.bold('Examples')}\n${examples.map(([line, what]) => `  ${style.dim(`# ${what}`)}\n  ${line}`).join('\n')}`,
  ].join('\n');
}

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
