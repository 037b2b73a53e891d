/** `sluice status`: the state of the running daemon, over its local socket. */
import { isAbsolute } from 'node:path';
import type { ArchiveStatus, ScheduleStatus, Status } from '../service/telemetry/status.ts';
import type { Command } from './command.ts';
import { ask, DAEMON_OPTIONS, findDaemonSocket } from './running-daemon.ts';
import { layOut } from './terminal.ts';
import { formatAge, plural } from './view/format.ts';
import { flagOption } from './options.ts';
import { SECOND_MS } from '../pdata/time-units.ts';

const WATCH_MS = 2_000;

export const command: Command = {
  description:
    'Shows the daemon of --config, or else that of this folder. It must belong to the same user. With --watch, rates are\nthose since the last display, otherwise since the start.',
  options: {
    ...DAEMON_OPTIONS,
    json: flagOption('Print JSON'),
    watch: flagOption('Repeat every two seconds, until Ctrl-C'),
  },
  examples: [
    ['sluice status', 'show it once'],
    ['sluice status --watch', 'repeat it'],
  ],
  async run(call) {
    const socket = await findDaemonSocket(call);
    const read = async (): Promise<Status> => (await ask(socket, 'status')) as Status;
    const print = (status: Status, before: Status | null): void =>
      call.terminal.print(call.values.flag('json') ? JSON.stringify(status) : describe(status, before));
    let before = await read();
    print(before, null);
    while (call.values.flag('watch')) {
      await new Promise((wake) => setTimeout(wake, WATCH_MS));
      const status = await read();
      print(status, before);
      before = status;
    }
  },
};

function describe(status: Status, before: Status | null): string {
  const seconds = status.uptimeSeconds - (before?.uptimeSeconds ?? 0);
  const rate = (now: number, then = 0): string => `${(Math.max(0, now - then) / Math.max(1, seconds)).toFixed(1)}/s`;
  const signals = Object.entries(status.signals).map(([signal, { stored, refused }]) => [
    signal,
    `${stored} stored`,
    rate(stored, before?.signals[signal]?.stored),
    `${refused} refused`,
  ]);
  const { keyCache, outbox, commits, requestsSettled, workers, archive, compaction } = status;
  const rows = [
    ['process', `pid ${status.pid}, version ${status.version}, in ${status.folder}`],
    ['configuration', status.configuration.join(', ')],
    ...(status.database === null ? [] : [['database', status.database]]),
    // Earlier versions do not tell them.
    ...Object.entries({
      'OTLP/HTTP': status.otlp?.http,
      'OTLP/gRPC': status.otlp?.grpc,
      metrics: status.metrics,
    }).flatMap(([name, url]) => ((url ?? null) === null ? [] : [[name, String(url)]])),
    ...((status.console ?? null) === null ? [] : [['console', String(status.console)]]),
    ['requests', `${status.requestsInFlight} in flight, ${status.requestsWaiting} waiting for a commit`],
    ['commits', commits === 0 ? 'none yet' : `${commits}, ${(requestsSettled / commits).toFixed(1)} requests each`],
    ['key cache', `${keyCache.hits} hits, ${keyCache.misses} misses`],
    ['outbox', `${outbox.entries} waiting, oldest ${Math.round(outbox.oldestSeconds)} s, ${outbox.deadLetters} dead`],
    ['embedded server', describeServer(status)],
    ...(archive === null ? [] : [['archive', describeArchive(archive)]]),
    // A daemon of an earlier version does not tell it.
    ...((compaction ?? null) === null ? [] : [['compaction', describeSchedule(compaction as ScheduleStatus)]]),
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

/** The database of a status is a path only for an embedded server. */
function describeServer({ embeddedServer, database }: Status): string {
  if (embeddedServer) return 'running';
  return isAbsolute(database ?? '') ? 'does not run' : 'none';
}

function describeArchive({ heldDays, ...schedule }: ArchiveStatus): string {
  const held = heldDays === 0 ? '' : `, ${plural(heldDays, 'day')} kept until archived`;
  return `${describeSchedule(schedule)}${held}`;
}

const describeSchedule = ({ running, ageSeconds }: ScheduleStatus): string =>
  `${running ? 'running, ' : ''}last complete ${formatAge(Math.max(1, ageSeconds) * SECOND_MS)} ago`;
