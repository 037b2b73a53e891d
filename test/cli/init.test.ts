// A configuration of one's own: written by init, found without an option, checked by validate.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own syntax.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sluice } from '../support/command-line.ts';
import { BIN } from '../support/executable.ts';
import { folderOf } from '../support/config-files.ts';

t.test('in a clone, init prints commands that a shell can run there', async (t) => {
  const { stdout } = spawnSync(process.execPath, [BIN, 'init', 'own.yaml'], { cwd: folderOf({}), encoding: 'utf8' });
  const next =
    /^Wrote own\.yaml\. Next: node (.*) validate --config own\.yaml, then node (.*) run --config own\.yaml$/mu;
  t.strictSame(next.exec(stdout)?.slice(1), [BIN, BIN]);
});

t.test('init writes a commented configuration, which is found and valid', async (t) => {
  const folder = folderOf({});
  t.match(await sluice(['init'], { folder }), { code: 0, out: /^Wrote sluice\.yaml\. Next: sluice validate, /u });
  const text = readFileSync(join(folder, 'sluice.yaml'), 'utf8');
  t.ok(text.split('\n').filter((line) => /^\s*#/u.test(line)).length >= 10, 'with comments');
  t.strictSame(await sluice(['validate'], { folder }), {
    code: 0,
    out: 'sluice.yaml: the configuration is valid.\n',
    err: '',
  });
  const again = await sluice(['init'], { folder });
  t.match(again, { code: 1, err: /sluice\.yaml exists already\n {2}hint: /u });
  t.equal(readFileSync(join(folder, 'sluice.yaml'), 'utf8'), text, 'an existing file stays');
});

t.test('init writes a file of another name', async (t) => {
  const folder = folderOf({});
  const { out } = await sluice(['init', 'own.yaml'], { folder });
  t.match(out, 'sluice run --config own.yaml');
  t.match(await sluice(['validate', '--config', 'own.yaml'], { folder }), { code: 0 });
  t.match(await sluice(['init', 'missing/own.yaml'], { folder }), {
    code: 1,
    err: /cannot be written: there is no such file or folder/u,
  });
});

t.test('validate names the files, also the one of the package', async (t) => {
  const folder = folderOf({ 'more.yaml': 'service: { shutdown_timeout: 3s }' });
  t.match(
    (await sluice(['validate'], { folder })).out,
    /^\/.*\/config\/sluice\.yaml: the configuration is valid\.\n$/u,
  );
  await sluice(['init'], { folder });
  const both = await sluice(['validate', '-c', 'sluice.yaml', '-c', 'more.yaml'], { folder });
  t.equal(both.out, 'sluice.yaml and more.yaml, merged: the configuration is valid.\n');
});

t.test('print-config prints secrets that are references as references, and its output is valid', async (t) => {
  const key = 'a-key-of-thirty-two-characters-00';
  const config = `
receivers: { otlp: {} }
processors:
  auth: { keys: [ { key: "\${env:OWN_KEY}", project: a }, { key: "\${file:key.txt}", project: b } ] }
  environment: {}
  privacy: { redact: [ { name: money, pattern: 'a$$$$b' } ] }
exporters: { file: {} }
service: { ledger: memory, pipelines: { traces: { receivers: [otlp], processors: [auth, environment, privacy], exporters: [file] } } }
`;
  const folder = folderOf({ 'sluice.yaml': config, 'key.txt': `${key}-of-a-file` });
  const env = { OWN_KEY: key };
  const { out } = await sluice(['print-config'], { folder, env });
  t.match(out, 'key: ${OWN_KEY} # [REDACTED]');
  t.match(out, 'key: ${file:key.txt} # [REDACTED]');
  t.notMatch(out, key);
  writeFileSync(join(folder, 'printed.yaml'), out);
  t.match(await sluice(['validate', '-c', 'printed.yaml'], { folder, env }), { code: 0, err: '' });
  const again = await sluice(['print-config', '-c', 'printed.yaml'], { folder, env });
  t.equal(again.out, out, 'printed again it is the same');
});

t.test('what print-config prints without secrets can be started with', async (t) => {
  const folder = folderOf({});
  const { out } = await sluice(['print-config'], { folder });
  const printed = folderOf({ 'sluice.yaml': out });
  t.match(await sluice(['validate'], { folder: printed }), { code: 0, err: '' });
});
