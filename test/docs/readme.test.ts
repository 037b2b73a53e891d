/** The complete gateway and the commands in the documentation are correct. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { COMMANDS } from '../../src/cli/commands.ts';
import { COMPONENTS } from '../../src/components.ts';
import { loadConfig } from '../../src/config/load.ts';
import { codeBlocks, documents, read, section } from './markdown.ts';

t.test('the complete gateway of docs/configuration.md is valid and gives no warning', async (t) => {
  const [yaml = ''] = codeBlocks(section(read('docs/configuration.md'), '## A complete gateway'), 'yaml');
  const folder = mkdtempSync(join(tmpdir(), 'sluice-readme-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'gateway.yaml'), yaml);
  const config = await loadConfig({
    files: ['gateway.yaml'],
    definitions: COMPONENTS,
    environment: { SLUICE_KEY: 'a-key-of-thirty-two-characters-00' },
    workingDirectory: folder,
  });
  t.same(config.warnings, []);
  t.same(
    [...config.receivers, ...config.processors, ...config.exporters, ...config.extensions].length,
    COMPONENTS.length,
    'it shows every component that ships',
  );
});

t.test('every command in the documentation exists, with its options', async (t) => {
  for (const path of documents()) {
    for (const line of codeBlocks(read(path), 'sh').flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))) {
      if (/^sluice /.test(line)) t.equal(await faultOf(line), null, `${path}: ${line}`);
    }
  }
});

/** Null when a command line is valid. */
async function faultOf(line: string): Promise<string | null> {
  const words = line
    .replace(/\s+#.*$/, '')
    .split(/\s+/)
    .slice(1);
  const entry =
    COMMANDS.find(({ name }) => name === `${words[0]} ${words[1]}`) ??
    COMMANDS.find(({ name }) => name === words[0]) ??
    (words[0]?.startsWith('-') === true ? COMMANDS[0] : undefined);
  if (entry === undefined) return 'no such command';
  const { options } = await entry.load();
  const unknown = words.filter((word) => word.startsWith('--')).find((word) => !Object.hasOwn(options, word.slice(2)));
  return unknown === undefined ? null : `no such option: ${unknown}`;
}

t.test('a package that the documentation installs by version is the tested one', (t) => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    readonly packages: Readonly<Record<string, { readonly version?: string }>>;
  };
  let checked = 0;
  for (const path of documents()) {
    for (const line of codeBlocks(read(path), 'sh').flatMap((block) => block.split('\n'))) {
      if (!line.startsWith('npm install ')) continue;
      for (const [, name = '', version] of line.matchAll(/ (@?[\w./-]+)@([\w.-]+)/g)) {
        const tested = packages[`node_modules/${name}`]?.version;
        if (tested === undefined) continue;
        t.equal(version, tested, `${path}: ${name}`);
        checked++;
      }
    }
  }
  t.ok(checked > 0, 'there are some');
  t.end();
});

t.test('README and package.json require the same version of Node', async (t) => {
  const manifest = JSON.parse(read('package.json')) as { readonly engines: { readonly node: string } };
  t.match(read('README.md'), `Node ${manifest.engines.node.replace('>=', '')} or newer`);
});
