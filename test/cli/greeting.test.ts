/** The greeting of a started daemon. */
import t from 'tap';
import { describeGreeting } from '../../src/cli/greeting.ts';
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

t.test('a later start says how to create another key', async (t) => {
  t.match(show(GREETING), /sluice key create +create another API key/u);
  t.match(show({ ...GREETING, keysExist: false }), 'There is no active key yet: sluice key create');
});
