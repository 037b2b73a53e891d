/** Every file in `fixtures/config-errors` is a mistake, with the message that it causes. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { CompiledSchemas } from '../../src/config/compiled-schemas.ts';
import { loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/config/diagnostics.ts';
import { SAMPLE_COMPONENTS } from '../support/sample-components.ts';
import { isPrompt } from '../support/promptness.ts';

const FOLDER = fileURLToPath(new URL('../../../test/fixtures/config-errors/', import.meta.url));
const SECRET = 'correct-horse-battery-staple';
const ENVIRONMENT = { SECRET, SHORT: 'tiny-secret', WORD: 'many' };
const SECRETS = [SECRET, 'tiny-secret', 'hunter2', '1234567890123456789'];
/** Every file is refused at once, expansion bombs included. */
const PROMPT_MS = 1_000;
const COLUMNS = 80;

const SCHEMAS = new CompiledSchemas();

async function messageFor(file: string): Promise<string> {
  try {
    await loadConfig({
      files: [file],
      definitions: SAMPLE_COMPONENTS,
      environment: ENVIRONMENT,
      workingDirectory: FOLDER,
      schemas: SCHEMAS,
    });
  } catch (error) {
    if (error instanceof ConfigError) return `${error.message}\n`;
    throw error;
  }
  return 'no error\n';
}

const files = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'));

t.ok(files.length >= 40, 'there are at least forty mistakes');

for (const file of files) {
  const mistake = file.replace('.yaml', '').replaceAll('-', ' ');
  t.test(`${mistake}: the whole message equals the fixture`, async (t) => {
    let message = '';
    const prompt = await isPrompt(PROMPT_MS, async () => (message = await messageFor(file)));
    t.ok(prompt, 'within a second');
    // The path of this repository differs between machines.
    message = message.replaceAll(FOLDER, '{folder}/');
    const expected = new URL(file.replace('.yaml', '.txt'), `file://${FOLDER}`);
    if (process.env['UPDATE_FIXTURES'] === '1') writeFileSync(expected, message);
    t.equal(message, readFileSync(expected, 'utf8'));
    for (const secret of SECRETS) t.notMatch(message, secret, 'no secret is shown');
    t.notMatch(message, /\n\s+at /u, 'no stack trace');
    const excerpts = message.split('\n').filter((line) => /^ {2,5}\d* +\| /u.test(line));
    t.ok(
      excerpts.every((line) => line.length <= COLUMNS),
      'a caret is below its place on a terminal of 80 columns',
    );
  });
}
