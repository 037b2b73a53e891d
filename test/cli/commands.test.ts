/** The list of commands, and the help and completion scripts that are generated from it. */
import { execFileSync } from 'node:child_process';
import t from 'tap';
import { COMMANDS } from '../../src/cli/commands.ts';
import { sluice } from '../support/command-line.ts';

t.test('every command declares what help and docs/cli.md show', async (t) => {
  const names = COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  t.equal(new Set(names).size, names.length, 'no two commands have the same name');
  for (const { name, words = '', load } of COMMANDS) {
    const { options, examples } = await load();
    t.match(words, /^(?:(?:<[A-Z|]+>|\[[A-Z]+\])(?: |$))*$/u, `${name}: words are <NEEDED> or [OPTIONAL]`);
    t.ok(examples.length > 0, `${name}: has an example`);
    for (const [line] of examples) t.match(line, /\bsluice\b/u, `${name}: an example is a command line`);
    for (const [option, { type, value, default: given, otherwise }] of Object.entries(options)) {
      t.equal(value === undefined, type === 'flag', `${name}: --${option} names its value`);
      t.notOk(
        given !== undefined && (otherwise !== undefined || type !== 'text'),
        `${name}: --${option} has one default`,
      );
    }
  }
});

t.test('an invalid number of workers is refused before anything is read', async (t) => {
  for (const count of ['0', '-1', 'two', '65', '1.5']) {
    const outcome = await sluice(['--workers', count, '--config', 'absent.yaml'], { folder: '/' });
    t.match(outcome, {
      code: 2,
      err: `--workers ${count} is not a number of processes\n  hint: a whole number from 1`,
    });
  }
});

t.test('completion needs the name of a shell', async (t) => {
  t.match(await sluice(['completion'], { folder: '/' }), { code: 2, err: /is missing\n.*one of bash, zsh, fish/u });
  const err = /no completion for "tcsh"\n.*one of bash, zsh, fish/u;
  t.match(await sluice(['completion', 'tcsh'], { folder: '/' }), { code: 2, err });
});

t.test('bash completes commands, the second word of a group, options and files', async (t) => {
  const { out, code } = await sluice(['completion', 'bash'], { folder: '/' });
  t.equal(code, 0);
  const complete = (line: string): readonly string[] => {
    const words = line.split(' ');
    const script = `${out}\nCOMP_WORDS=(${words.map((word) => `"${word}"`).join(' ')}); COMP_CWORD=${words.length - 1}; _sluice; echo "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', script], { encoding: 'utf8', cwd: '/' }).trim().split(' ');
  };
  t.same(complete('sluice vali'), ['validate']);
  t.same(complete('sluice key '), ['create', 'list', 'revoke']);
  t.ok(complete('sluice key create --').includes('--project'));
  t.same(complete('sluice validate --con'), ['--config']);
  t.same(complete('sluice --config x.yaml vali'), ['validate']);
  t.same(complete('sluice --workers 2 vali'), ['validate']);
  t.ok(complete('sluice validate --config ').includes('etc'));
  t.ok(complete('sluice ').includes('--version'));
});

t.test('the scripts for fish and zsh have every command and option', async (t) => {
  const fish = (await sluice(['completion', 'fish'], { folder: '/' })).out;
  const zsh = (await sluice(['completion', 'zsh'], { folder: '/' })).out;
  t.match(zsh, /bashcompinit.*complete -F _sluice sluice/su);
  for (const { name, load } of COMMANDS) {
    const [first = '', second = first] = name.split(' ');
    t.match(fish, ` -a ${second} `, name);
    t.match(zsh, first, name);
    for (const option of Object.keys((await load()).options)) t.match(fish, ` -l ${option} `, `${name} --${option}`);
  }
});
