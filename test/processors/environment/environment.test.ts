// Environments: which texts of resources name which, and which names options may have.
import t from 'tap';
import { COMPONENTS } from '../../../src/components.ts';
import { load } from '../../support/config-files.ts';
import { FILE_CONFIG, startDaemon } from '../../support/daemon.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';

const SCOPED = 'key-of-one-environment';
const withKeyFor = (environment: string): string =>
  FILE_CONFIG.replace(
    'keys:\n',
    `keys:\n      - { key: ${SCOPED}, project: demo, environment: ${JSON.stringify(environment)} }\n`,
  );
const inEnvironment = (environment: string): string =>
  JSON.stringify(aTraceRequest([aSpan()], { 'deployment.environment.name': environment }));

/** Blank, with a control character, longer than a stored one, and longer in lower case. */
const IMPOSSIBLE = [' ', '\t\u3000', 'a\u0001b', 'x'.repeat(256), '\u0130'.repeat(200)];

t.test('an environment may have any spelling; surrounding space and case do not count', async (t) => {
  const daemon = await startDaemon(t, { config: withKeyFor(' Prod uction ') });
  const status = async (environment: string): Promise<number> =>
    (await send(daemon.url, { authorization: `Bearer ${SCOPED}`, body: inEnvironment(environment) })).status;
  t.equal(await status('\tPROD uction'), 200);
  t.equal(await status('production'), 403);
  const rows = await daemon.rows();
  t.equal(rows[0]?.['environment'], 'prod uction');
});

t.test('a name that no resource can have is refused wherever an option takes one', async (t) => {
  const refused = async (config: string, option: RegExp): Promise<void> => {
    const problem = load({ 'a.yaml': config }, { definitions: COMPONENTS });
    await t.rejects(problem, { message: option });
  };
  for (const name of IMPOSSIBLE) {
    const text = JSON.stringify(name);
    await refused(withKeyFor(name), /a\.yaml:\d+:\d+: error: (?:this cannot be an environment|.*environment must)/u);
    await refused(
      FILE_CONFIG.replace('environment: {}', `environment: { default: ${text} }`),
      /a\.yaml:\d+:\d+: error: (?:default cannot be an environment|.*default must)/u,
    );
    await refused(
      FILE_CONFIG.replace(
        'environment: {}',
        `environment: {}\n  privacy: { environments: { ${text}: {} } }`,
      ).replaceAll('[auth, environment]', '[auth, environment, privacy]'),
      /a\.yaml:\d+:\d+: error: processors\.privacy\.environments: .*(?:has no name|cannot be an environment)/u,
    );
  }
});
