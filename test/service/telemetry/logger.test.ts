import t from 'tap';
import { DaemonLogger } from '../../../src/service/telemetry/logger.ts';

const sampling = { enabled: true, tick: 60_000, initial: 2 };

function scene(settings: Parameters<typeof DaemonLogger.create>[0]) {
  const lines: Record<string, unknown>[] = [];
  const waiting: (() => void)[] = [];
  const logger = DaemonLogger.create(settings, {
    write: (line: string) => {
      lines.push(JSON.parse(line) as Record<string, unknown>);
      for (const wake of waiting.splice(0)) wake();
    },
  });
  const next = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
  return { logger, lines, next };
}

t.test("lines have the Collector's fields of their scope", async (t) => {
  const { logger, lines } = scene({ level: 'info', sampling });
  logger.for({ kind: 'processor', id: 'auth/x', pipeline: 'traces', signal: 'traces' }).warn({ size: 1 }, 'odd');
  t.match(lines, [
    {
      level: 'warn',
      'otelcol.component.kind': 'processor',
      'otelcol.component.id': 'auth/x',
      'otelcol.pipeline.id': 'traces',
      'otelcol.signal': 'traces',
      size: 1,
      msg: 'odd',
    },
  ]);
});

t.test('the level applies to all loggers, also when it changes', async (t) => {
  const { logger, lines } = scene({ level: 'warn', sampling });
  const child = logger.for({ kind: 'receiver', id: 'otlp' });
  child.info({}, 'quiet');
  logger.configure({ level: 'debug', sampling });
  child.debug({}, 'loud');
  t.same(
    lines.map(({ msg }) => msg),
    ['loud'],
  );
});

t.test(
  'repeated messages are counted after the first few; other codes, components and levels are not suppressed',
  async (t) => {
    const { logger, lines } = scene({ level: 'info', sampling });
    for (let count = 0; count < 5; count++) logger.info({ code: 'invalid_api_key' }, 'request refused');
    logger.info({ code: 'ingestion_failed' }, 'request refused');
    logger.error({ code: 'invalid_api_key' }, 'request refused');
    logger.for({ kind: 'receiver', id: 'otlp/two' }).info({ code: 'invalid_api_key' }, 'request refused');
    t.equal(lines.length, 5);
  },
);

t.test('the end of the window logs the number of suppressed messages, and starts a new window', async (t) => {
  const { logger, lines, next } = scene({ level: 'info', sampling: { enabled: true, tick: 10, initial: 1 } });
  const child = logger.for({ kind: 'receiver', id: 'otlp' });
  for (let count = 0; count < 4; count++) child.info({ code: 'overloaded' }, 'request refused');
  // The window alone does not keep a process alive.
  const alive = setInterval(() => undefined, 1000);
  await next();
  clearInterval(alive);
  t.match(lines[1], {
    msg: '3 similar messages suppressed',
    similar: 'request refused',
    suppressed: 3,
    code: 'overloaded',
    'otelcol.component.id': 'otlp',
  });
  child.info({ code: 'overloaded' }, 'request refused');
  t.equal(lines.length, 3);
});

t.test('the refusals of one project do not hide those of another', async (t) => {
  const { logger, lines } = scene({ level: 'info', sampling });
  const refuse = (project?: string): void =>
    logger.info({ code: 'trace_conflict', ...(project === undefined ? {} : { project }) }, 'request refused');
  for (let count = 0; count < 100; count++) refuse('hostile');
  for (let count = 0; count < 100; count++) refuse();
  refuse('honest');
  t.same(
    lines.map(({ project }) => project ?? null),
    ['hostile', 'hostile', null, null, 'honest'],
  );
});

t.test('the lines of a window are bounded, however many projects and messages there are', async (t) => {
  const { logger, lines } = scene({ level: 'info', sampling });
  for (let count = 0; count < 10_000; count++) logger.info({ code: 'trace_conflict', project: `p${count}` }, 'refused');
  t.equal(lines.length, 50 + 2, 'one line for each of 50 projects, and two for all others');
  for (let count = 0; count < 10_000; count++) logger.info({}, `message ${count}`);
  t.ok(lines.length < 3000, `${lines.length} lines`);
});

t.test('the line for suppressed messages names the project', async (t) => {
  const { logger, lines, next } = scene({ level: 'info', sampling: { enabled: true, tick: 10, initial: 1 } });
  for (let count = 0; count < 4; count++) logger.info({ code: 'overloaded', project: 'hostile' }, 'request refused');
  // The window alone does not keep a process alive.
  const alive = setInterval(() => undefined, 1000);
  await next();
  clearInterval(alive);
  t.match(lines[1], { suppressed: 3, code: 'overloaded', project: 'hostile' });
});

t.test('sampling can be switched off', async (t) => {
  const { logger, lines } = scene({ level: 'info', sampling: { ...sampling, enabled: false } });
  for (let count = 0; count < 5; count++) logger.info({}, 'again');
  t.equal(lines.length, 5);
});

t.test('a remembered problem has the remedy of its line', async (t) => {
  const { logger } = scene({ level: 'info', sampling });
  logger.error({ fix: 'Free some disk space, or inodes.' }, 'the file could not be written');
  logger.warn({ fix: undefined }, 'odd');
  t.same(
    logger.problems.map(({ message }) => message),
    ['the file could not be written. Free some disk space, or inodes.', 'odd'],
  );
});
