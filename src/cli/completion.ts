/** `sluice completion`: completion scripts for shells, generated from the list of commands. */
import { type Command, loadCommand, type LoadedCommand } from './command.ts';
import { ROOT_OPTIONS } from './help.ts';
import { type Option, UsageError } from './options.ts';

const SHELLS: Readonly<Record<string, (commands: readonly LoadedCommand[]) => string>> = {
  bash: forBash,
  zsh: (commands) => `autoload -U +X bashcompinit && bashcompinit\n${forBash(commands)}`,
  fish: forFish,
};

export const command: Command = {
  description: `For ${Object.keys(SHELLS).join(', ')}.`,
  options: {},
  examples: [
    ['source <(sluice completion bash)', 'for this shell; add it to ~/.bashrc for all shells'],
    ['sluice completion fish > ~/.config/fish/completions/sluice.fish', 'for fish'],
  ],
  async run({ words, terminal, commands }): Promise<void> {
    const [shell] = words;
    const write = SHELLS[shell ?? ''];
    if (write === undefined) {
      const fault = shell === undefined ? 'the name of a shell is missing' : `there is no completion for "${shell}"`;
      throw new UsageError(fault, `one of ${Object.keys(SHELLS).join(', ')}`);
    }
    terminal.print(write(await Promise.all(commands.map(loadCommand))));
  },
};

/** The options with a file as their value. */
const FILE_OPTIONS = /^--?(?:config|c)$/u;

function forBash(commands: readonly LoadedCommand[]): string {
  const firsts = [...new Set(commands.map(({ name }) => firstOf(name)))];
  const whole = commands.map(({ name, options }) => `    "${name}") words="${flagsOf(options).join(' ')}" ;;`);
  const groups = firsts
    .map(
      (first) => [first, commands.flatMap(({ name }) => (name.startsWith(`${first} `) ? secondOf(name) : []))] as const,
    )
    .filter(([, seconds]) => seconds.length > 0)
    .map(([first, seconds]) => `      ${first}) words="${seconds.join(' ')}" ;;`);
  const valued = [...new Set(commands.flatMap(({ options }) => spellingsWithValue(options)))];
  const top = [...firsts, 'help', ...flagsOf({})].join(' ');
  return `# sluice completion for bash
_sluice() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  local first="" second="" last="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$last" in ${valued.join('|')}) last=""; continue ;; esac
    last=$word
    [[ $word == -* ]] && continue
    if [[ -z $first ]]; then first=$word; elif [[ -z $second ]]; then second=$word; fi
  done
  case "$previous" in
    --config|-c) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  case "$first $second" in
${whole.filter((line) => /^ {4}"\S+ \S+"/u.test(line)).join('\n')}
  esac
  if [[ -z $words ]]; then
    case "$first" in
${groups.join('\n')}
${whole
  .filter((line) => /^ {4}"\S+"\)/u.test(line))
  .map((line) => `  ${line}`)
  .join('\n')}
      *) words="${top}" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _sluice sluice
`;
}

function forFish(commands: readonly LoadedCommand[]): string {
  const lines = commands.flatMap(({ name, summary, options }) => {
    const [first, second] = [firstOf(name), secondOf(name)];
    const offered =
      second === ''
        ? `complete -c sluice -f -n __fish_use_subcommand -a ${first} -d ${quoted(summary)}`
        : `complete -c sluice -f -n '__fish_seen_subcommand_from ${first}' -a ${second} -d ${quoted(summary)}`;
    const seen = `'__fish_seen_subcommand_from ${second === '' ? first : second}'`;
    const flags = Object.entries({ ...options, help: ROOT_OPTIONS.help }).map(([long, option]) => {
      return `complete -c sluice -n ${seen} -l ${long}${fishValue(long, option)} -d ${quoted(option.description)}`;
    });
    return [offered, ...flags];
  });
  const groups = [...new Set(commands.filter(({ name }) => secondOf(name) !== '').map(({ name }) => firstOf(name)))];
  const opened = groups.map((first) => `complete -c sluice -f -n __fish_use_subcommand -a ${first}`);
  return `# sluice completion for fish\n${[...opened, ...lines].join('\n')}\n`;
}

function fishValue(long: string, { type, short }: Option): string {
  const letter = short === undefined ? '' : ` -s ${short}`;
  if (type === 'flag') return letter;
  return `${letter} -r${FILE_OPTIONS.test(`--${long}`) ? '' : ' -f'}`;
}

const flagsOf = (options: Command['options']): readonly string[] =>
  Object.keys({ ...options, ...(Object.keys(options).length === 0 ? ROOT_OPTIONS : { help: ROOT_OPTIONS.help }) }).map(
    (name) => `--${name}`,
  );

/** As typed before a value: `--config`, `-c`. */
const spellingsWithValue = (options: Command['options']): readonly string[] =>
  Object.entries(options).flatMap(([name, { type, short }]) =>
    type === 'flag' ? [] : [`--${name}`, ...(short === undefined ? [] : [`-${short}`])],
  );

const firstOf = (name: string): string => name.split(' ')[0] ?? name;
const secondOf = (name: string): string => name.split(' ')[1] ?? '';
const quoted = (text: string): string => `'${text.replaceAll("'", "\\'")}'`;
