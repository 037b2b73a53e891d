/** `sluice status`: the state of the running daemon of a configuration, over its local socket. */
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { UserError } from '../errors.ts';
import type { Status } from '../service/telemetry/status.ts';
import type { Call, Command } from './command.ts';
import { CONFIG_OPTIONS, readConfig } from './config-options.ts';
import { layOut } from './terminal.ts';

const WATCH_MS = 2_000;
const PATIENCE_MS = 5_000;

export const statusCommand: Command = {
  description:
    'Connects to the daemon of the same configuration, over the socket of service.telemetry.status.socket. With --watch,\nrates are those since the last display, otherwise since the start.',
  options: {
    ...CONFIG_OPTIONS,
    json: { type: 'flag', description: 'Print JSON' },
    watch: { type: 'flag', description: 'Repeat every two seconds, until Ctrl-C' },
  },
  examples: [
    ['sluice status', 'show it once'],
    ['sluice status --watch', 'repeat it'],
  ],
  async run(call) {
    const path = await socketOf(call);
    const print = (status: Status, before: Status | null): void =>
      call.terminal.print(call.values.flag('json') ? JSON.stringify(status) : describe(status, before));
    let before = await ask(path);
    print(before, null);
    while (call.values.flag('watch')) {
      await new Promise((wake) => setTimeout(wake, WATCH_MS));
      const status = await ask(path);
      print(status, before);
      before = status;
    }
    return 0;
  },
};

async function socketOf(call: Call): Promise<string> {
  const { socket } = (await readConfig(call)).service.telemetry.status;
  if (socket !== '') return resolve(call.process.cwd(), socket);
  const hint = 'Set service.telemetry.status.socket, as ./sluice.sock, and restart or reload.';
  throw new UserError('this configuration has no status socket', hint);
}

async function ask(path: string): Promise<Status> {
  const text = await new Promise<string>((answered, failed) => {
    const connection = connect(path);
    let answer = '';
    connection.setTimeout(PATIENCE_MS, () => connection.destroy(new Error('no answer in time')));
    connection.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    connection.once('end', () => answered(answer));
    connection.once('error', (error: NodeJS.ErrnoException) => failed(explain(error, path)));
  });
  return JSON.parse(text) as Status;
}

function explain(error: NodeJS.ErrnoException, path: string): Error {
  if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED')
    return new UserError(`no daemon answers at ${path}`, 'Start one with this configuration, in this folder.');
  if (error.code === 'EACCES')
    return new UserError(`no permission for ${path}`, 'Ask as the user that runs the daemon.');
  return new UserError(`the daemon could not be asked: ${error.message}`);
}

function describe(status: Status, before: Status | null): string {
  const seconds = status.uptimeSeconds - (before?.uptimeSeconds ?? 0);
  const rate = (now: number, then = 0): string => `${(Math.max(0, now - then) / Math.max(1, seconds)).toFixed(1)}/s`;
  const signals = Object.entries(status.signals).map(([signal, { stored, refused }]) => [
    signal,
    `${stored} stored`,
    rate(stored, before?.signals[signal]?.stored),
    `${refused} refused`,
  ]);
  const { keyCache, outbox, commits, requestsSettled, workers } = status;
  const rows = [
    ['requests', `${status.requestsInFlight} in flight, ${status.requestsWaiting} waiting for a commit`],
    ['commits', commits === 0 ? 'none yet' : `${commits}, ${(requestsSettled / commits).toFixed(1)} requests each`],
    ['key cache', `${keyCache.hits} hits, ${keyCache.misses} misses`],
    ['outbox', `${outbox.entries} waiting, oldest ${Math.round(outbox.oldestSeconds)} s, ${outbox.deadLetters} dead`],
    ['embedded server', status.embeddedServer ? 'running' : 'none'],
    ...workers.map(({ number, pid, state, restarts }) => [
      `worker ${number}`,
      `${state}, ${pid === null ? '' : `pid ${pid}, `}${restarts} restarts`,
    ]),
  ];
  const refusals = Object.entries(status.refusals).map(([code, count]) => [code, String(count)]);
  const last = status.lastProblems.map(({ time, level, message }) => [time, level, message]);
  return [
    `${status.state}, ${status.problems.length === 0 ? 'ready' : `not ready: ${status.problems.join('; ')}`}, up ${status.uptimeSeconds} s`,
    '',
    layOut(status.pipelines.map(({ id, way }) => [id, way])),
    '',
    layOut(signals),
    '',
    layOut(rows),
    ...(refusals.length === 0 ? [] : ['', 'Refusals', layOut(refusals, '  ')]),
    ...(last.length === 0 ? [] : ['', 'Last problems', layOut(last, '  ')]),
  ].join('\n');
}
