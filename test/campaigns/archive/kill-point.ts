/**
 * Loaded into a command: kills it at a point of its run. Each message to the database or to the store and each change
 * of a folder is two points: right before it, and right after it was given to the system, while its answer is unknown.
 * Only these change what a killed run leaves. A point is named by its step and its place among the points of the step.
 */
import { promises, writeSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';

const CHANGES = ['link', 'mkdir', 'open', 'rename', 'rm', 'unlink', 'writeFile'] as const;
/** The steps of the archive and of its other commands, by what is written. The first that matches. */
const STEPS: readonly (readonly [string, RegExp])[] = [
  ['seal', /TRIGGER sluice_archive/u],
  ['plan', /left_over/u],
  ['take', /WITH oldest/u],
  ['mark', /UPDATE sluice\.compactions/u],
  ['snapshot', /REPEATABLE READ/u],
  ['copy', /COPY \(SELECT/u],
  ['put', /^(?:PUT |PAR1|link )/u],
  ['file', /^(?:open|mkdir|rename|writeFile) /u],
  ['removal', /^(?:POST |rm |unlink )/u],
  ['read', /^(?:GET|HEAD) /u],
  ['publish', /state = 'published', published_at|DELETE FROM sluice\.lake_late/u],
  ['commit', /COMMIT/u],
  ['create', /CREATE TABLE/u],
  ['fill', /FROM STDIN/u],
  ['attach', /ATTACH PARTITION/u],
  ['erase', /DELETE FROM/u],
  ['search', /SELECT/u],
];

/** Without it, or with one that does not come, the run has its end and tells its points. */
const wanted = process.env['SLUICE_KILL_POINT'];
const counts: Record<string, number> = {};

function pass(text: string): void {
  const step = STEPS.find(([, form]) => form.test(text))?.[0] ?? 'other';
  const place = counts[step] ?? 0;
  counts[step] = place + 1;
  if (`${step} ${place}` === wanted) process.kill(process.pid, 'SIGKILL');
}

type Writing = (isMany: boolean, data: unknown, encoding: unknown, done: unknown) => void;
const socket = Socket.prototype as unknown as { _writeGeneric: Writing };
const write = socket._writeGeneric;
socket._writeGeneric = function (isMany, data, encoding, done) {
  const parts = isMany ? (data as readonly { readonly chunk: unknown }[]).map(({ chunk }) => chunk) : [data];
  const text = parts.map(String).join('');
  pass(text);
  write.call(this, isMany, data, encoding, done);
  pass(text);
};

const changes = promises as unknown as Record<string, (...args: readonly unknown[]) => Promise<unknown>>;
for (const name of CHANGES) {
  const change = changes[name];
  if (change === undefined) throw new Error(`there is no ${name}`);
  changes[name] = async (...args) => {
    pass(`${name} `);
    const result = await change(...args);
    pass(`${name} `);
    return result;
  };
}
syncBuiltinESMExports();
process.on('exit', () => writeSync(2, `points ${JSON.stringify(counts)}\n`));
