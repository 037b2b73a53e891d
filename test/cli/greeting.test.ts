/** The greeting of a started daemon. */
import t from 'tap';
import { describeGreeting } from '../../src/cli/greeting.ts';
import type { Call } from '../../src/cli/command.ts';
import { commandLine } from '../../src/cli/command-line.ts';
import { listOption, parseWords } from '../../src/cli/options.ts';
import { makeStyle } from '../../src/cli/terminal.ts';
import type { Greeting } from '../../src/daemon/daemon-host.ts';

const GREETING: Greeting = {
  endpoint: 'http://127.0.0.1:4318',
  grpc: null,
  listensEverywhere: false,
  key: null,
  keysExist: true,
  console: null,
  psql: null,
};
const show = (greeting: Greeting): string => describeGreeting(greeting, (words) => `sluice ${words}`, makeStyle(false));

t.test('it says how other machines reach a daemon that listens on all addresses', async (t) => {
  for (const key of [null, 'slc_key']) {
    t.match(show({ ...GREETING, key, listensEverywhere: true }), 'On other machines, the name of this machine');
    t.notMatch(show({ ...GREETING, key }), 'On other machines');
  }
});

t.test('the commands have the options of this start, as words of a shell and without secrets', async (t) => {
  const options = { config: listOption('FILE', ''), set: listOption('PATH=VALUE', '') };
  const lineOf = (script: string, ...given: readonly string[]): string => {
    const host = Object.create(process, { argv: { value: ['node', script] } }) as NodeJS.Process;
    return commandLine({ process: host, values: parseWords(given, options).values } as Call, 'demo');
  };
  t.equal(lineOf('/usr/bin/sluice'), 'sluice demo');
  t.equal(
    lineOf(
      '/usr/bin/sluice',
      '--config',
      "it's é.yaml",
      '--set',
      'receivers.otlp.protocols.http.endpoint=127.0.0.1:4328',
    ),
    "sluice demo --config 'it'\\''s é.yaml' --set receivers.otlp.protocols.http.endpoint=127.0.0.1:4328",
  );
  t.equal(lineOf('/my tools/sluice.js'), "node '/my tools/sluice.js' demo");
  for (const secret of ['processors.auth.keys.0.key=s3cret', 'extensions.postgres.url=postgres://u:s3cret@h/d'])
    t.notMatch(lineOf('/usr/bin/sluice', '--set', secret), 's3cret');
});

t.test('a later start says how to create another key', async (t) => {
  t.match(show(GREETING), /sluice key create +create another API key/u);
  t.match(show({ ...GREETING, keysExist: false }), 'There is no active key yet: sluice key create');
});

t.test('a command with many options is on a line below what it does', async (t) => {
  const again = (words: string): string => `sluice ${words} --set extensions.postgres.data_dir=./elsewhere`;
  t.match(
    describeGreeting(GREETING, again, makeStyle(false)),
    `    create another API key\n      ${again('key create')}\n`,
  );
});
