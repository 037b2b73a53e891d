/** The processes that read archived traces: their number, their end, and what a request sees of their failures. */
import t from 'tap';
import type { CommandSession, OwnCommands } from '../../../../src/component/capabilities/own-commands.ts';
import type { Logger } from '../../../../src/component/logger.ts';
import { ConsoleError } from '../../../../src/extensions/console/errors.ts';
import type { Limits } from '../../../../src/extensions/console/server/archive-reader.ts';
import { ArchiveReaders, loadingOfTrace } from '../../../../src/extensions/console/server/archive-readers.ts';
import type { Reply } from '../../../../src/extensions/console/server/route.ts';
import type { Teardown } from '../../../support/postgres.ts';

const nothing = (): void => undefined;
const LOGGER = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const LIMITS: Limits = {
  processes: 2,
  answerMs: 60_000,
  idleMs: 60_000,
  lifeMs: 60_000,
  freshMs: 60_000,
  waiting: 1,
  waitMs: 60_000,
};
const QUESTION = { path: '/api/v1/traces/x', headers: {}, projects: null, seesContent: true };
/** A sender, and the state of the database that the process of the daemon sees. */
const asker = (state: Readonly<Record<string, unknown>> = {}, { signal } = new AbortController()) => ({
  signal,
  reader: { prepared: () => Promise.resolve([state]) },
});
const LIVE = asker();
const [A, B, C] = ['a', 'b', 'c'].map((digit) => digit.repeat(32)) as [string, string, string];

/** A process that answers when the test says so. */
class FakeProcess implements CommandSession {
  readonly questions: { resolve(text: string): void; reject(error: Error): void }[] = [];
  readonly ended: Promise<void>;
  isEnded = false;
  #close: () => void = nothing;

  constructor(signal: AbortSignal) {
    this.ended = new Promise((resolve) => (this.#close = resolve));
    signal.addEventListener('abort', () => this.fail('ended by SIGTERM'));
  }

  ask(): Promise<string> {
    return new Promise((resolve, reject) => this.questions.push({ resolve, reject }));
  }

  end(): void {
    this.isEnded = true;
    this.#close();
  }

  fail(reason: string): void {
    for (const { reject } of this.questions.splice(0)) reject(new Error(reason));
    this.end();
  }

  answer(text: string): void {
    this.questions.shift()?.resolve(text);
  }
}

function start(t: Teardown, limits: Partial<Limits> = {}, logger: Logger = LOGGER) {
  const processes: FakeProcess[] = [];
  const commands: OwnCommands = {
    run: () => Promise.reject(new Error('not used')),
    open: async (_, { signal }) => {
      const process = new FakeProcess(signal);
      processes.push(process);
      return process;
    },
  };
  const traces = new ArchiveReaders(commands, logger, { ...LIMITS, ...limits });
  t.teardown(async () => traces.stop());
  return { processes, traces };
}

t.test('for a path without a project, the projects of the caller are asked about', async (t) => {
  const { traces } = start(t);
  const asked: unknown[] = [];
  const reader = {
    prepared: async (_: string, values: readonly unknown[] = []) => {
      asked.push(values[1]);
      return [];
    },
  };
  const match = { route: { path: '/api/v1/traces/{trace}' }, parameters: new Map([['trace', A]]) } as never;
  const sender = { signal: new AbortController().signal, reader };
  for (const [project, projects] of [
    [null, ['shop', 'blog']],
    [null, null],
    ['shop', ['shop', 'blog']],
  ] as const)
    t.equal(await traces.answerForTrace(match, project, { question: { ...QUESTION, projects }, asker: sender }), null);
  t.same(asked, [['shop', 'blog'], null, ['shop']]);
});

/** After promises that are settled have run on. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const textOf = (reply: Reply): string => (reply as { readonly text: string }).text;
const answerWith = (text: string): string => JSON.stringify({ reply: { kind: 'json_text', text } });
const codeOf = (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    () => 'answered',
    (error: unknown) => (error instanceof ConsoleError ? error.code : String(error)),
  );

t.test('one process answers all requests for a trace', async (t) => {
  const { traces, processes } = start(t);
  const answers = [traces.answer(loadingOfTrace(A), QUESTION, LIVE), traces.answer(loadingOfTrace(A), QUESTION, LIVE)];
  await turn();
  t.equal(processes.length, 1);
  for (const text of ['1', '2']) processes[0]?.answer(answerWith(text));
  t.same((await Promise.all(answers)).map(textOf), ['1', '2']);
});

t.test('the log does not quote an answer that cannot be read', async (t) => {
  const lines: string[] = [];
  const withMessages = (_: string, value: unknown): unknown => (value instanceof Error ? `${value}` : value);
  const warn = (fields: object): void => void lines.push(JSON.stringify(fields, withMessages));
  const { traces, processes } = start(t, {}, { ...LOGGER, warn });
  const answer = traces.answer(loadingOfTrace(A), QUESTION, LIVE);
  await turn();
  processes[0]?.answer('sk-proj-7Hq2mZx {"reply"');
  t.equal(await codeOf(answer), 'archive_unavailable');
  t.match(lines, [/SyntaxError/u]);
  t.notMatch(lines.join(), '7Hq2mZx');
});

t.test('a request for other days waits for a process, and is refused when others wait already', async (t) => {
  const { traces, processes } = start(t);
  const first = traces.answer(loadingOfTrace(A), QUESTION, LIVE);
  const second = traces.answer(loadingOfTrace(B), QUESTION, LIVE);
  await turn();
  const third = traces.answer(loadingOfTrace(C), QUESTION, LIVE);
  await turn();
  t.equal(await codeOf(traces.answer(loadingOfTrace(C), QUESTION, LIVE)), 'busy');
  t.equal(processes.length, 2);
  processes[1]?.answer(answerWith('b'));
  await second;
  await turn();
  t.same(
    processes.map(({ isEnded }) => isEnded),
    [false, true, false],
  );
  processes[2]?.answer(answerWith('c'));
  t.equal(textOf(await third), 'c');
  processes[0]?.answer(answerWith('a'));
  t.equal(textOf(await first), 'a');
  traces.stop();
  await turn();
  t.ok(processes.every(({ isEnded }) => isEnded));
});

t.test('a request does not wait for a process for longer than allowed, or than its client', async (t) => {
  const one = start(t, { processes: 1 });
  const leaving = new AbortController();
  const running = codeOf(one.traces.answer(loadingOfTrace(A), QUESTION, LIVE));
  const left = codeOf(one.traces.answer(loadingOfTrace(B), QUESTION, asker({}, leaving)));
  await turn();
  leaving.abort(new ConsoleError('request_timeout'));
  t.equal(await left, 'request_timeout');
  one.processes[0]?.answer(answerWith('a'));
  t.equal(await running, 'answered');
  const other = start(t, { processes: 1, waitMs: 1 });
  void codeOf(other.traces.answer(loadingOfTrace(A), QUESTION, LIVE));
  await turn();
  t.equal(await codeOf(other.traces.answer(loadingOfTrace(B), QUESTION, LIVE)), 'busy');
});

t.test('what arrived in objects is not hidden by an earlier snapshot', async (t) => {
  const states = {
    'a request in objects': [{ has_parts: false }, { has_parts: true }],
    'a further file': [{ newest_file: '7' }, { newest_file: '8' }],
  };
  for (const [title, [before, after]] of Object.entries(states)) {
    const { traces, processes } = start(t, { freshMs: -1 });
    const first = traces.answer(loadingOfTrace(A), QUESTION, asker(before));
    await turn();
    const same = traces.answer(loadingOfTrace(A), QUESTION, asker(before));
    await turn();
    t.equal(processes.length, 1, title);
    const later = traces.answer(loadingOfTrace(A), QUESTION, asker(after));
    await turn();
    t.equal(processes.length, 2, title);
    for (const text of ['1', '2']) processes[0]?.answer(answerWith(text));
    t.same([textOf(await first), textOf(await same)], ['1', '2'], title);
    t.ok(processes[0]?.isEnded, `${title}: the former process ends after its last answer`);
    processes[1]?.answer(answerWith('3'));
    t.equal(textOf(await later), '3', title);
  }
});

t.test('an idle, an old and a forgotten process end', async (t) => {
  const idle = start(t, { idleMs: 1 });
  const one = idle.traces.answer(loadingOfTrace(A), QUESTION, LIVE);
  await turn();
  idle.processes[0]?.answer(answerWith('1'));
  await one;
  await idle.processes[0]?.ended;
  for (const { traces, processes, act } of [
    { ...start(t, { lifeMs: -1 }), act: nothing },
    { ...start(t), act: (traces: ArchiveReaders) => traces.forget(A) },
  ]) {
    for (const text of ['1', '2']) {
      const answer = traces.answer(loadingOfTrace(A), QUESTION, LIVE);
      await turn();
      processes.at(-1)?.answer(answerWith(text));
      t.equal(textOf(await answer), text);
      act(traces);
    }
    t.equal(processes.length, 2);
    t.ok(processes[0]?.isEnded);
  }
});

t.test('a process that fails, refuses or does not answer in time gives an error with its code', async (t) => {
  const { traces, processes } = start(t);
  const failed = codeOf(traces.answer(loadingOfTrace(A), QUESTION, LIVE));
  await turn();
  processes[0]?.fail('exit code 1');
  t.equal(await failed, 'archive_unavailable');
  const refused = codeOf(traces.answer(loadingOfTrace(A), QUESTION, LIVE));
  await turn();
  processes[1]?.answer(JSON.stringify({ refusal: { code: 'not_found', message: 'x', hint: null } }));
  t.equal(await refused, 'not_found');
  const late = start(t, { answerMs: 1 });
  t.equal(await codeOf(late.traces.answer(loadingOfTrace(A), QUESTION, LIVE)), 'took_too_long');
  t.ok(late.processes[0]?.isEnded);
});

t.test('when the last client has disconnected, the process ends', async (t) => {
  const { traces, processes } = start(t);
  const leaving = [new AbortController(), new AbortController()];
  const answers = leaving.map(({ signal }) =>
    codeOf(traces.answer(loadingOfTrace(A), QUESTION, asker({}, { signal } as AbortController))),
  );
  await turn();
  leaving[0]?.abort(new ConsoleError('request_timeout'));
  await answers[0];
  t.notOk(processes[0]?.isEnded);
  leaving[1]?.abort(new ConsoleError('request_timeout'));
  t.equal(await answers[1], 'request_timeout');
  t.ok(processes[0]?.isEnded);
});

t.test('a process that cannot be started is an archive that cannot be read', async (t) => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  t.teardown(async () => void process.off('unhandledRejection', note));
  const fails = (): Promise<never> => Promise.reject(new Error('EMFILE'));
  const traces = new ArchiveReaders({ run: fails, open: fails }, LOGGER, LIMITS);
  t.equal(await codeOf(traces.answer(loadingOfTrace(A), QUESTION, LIVE)), 'archive_unavailable');
  t.equal(await codeOf(traces.answer(loadingOfTrace(A), QUESTION, LIVE)), 'archive_unavailable', 'and again');
  traces.stop();
  await turn();
  t.same(unhandled, []);
});
