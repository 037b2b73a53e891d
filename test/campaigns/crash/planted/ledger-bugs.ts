/** Planted faults of the Postgres ledger: what stands inside the transaction, and in which order. */
import type { PlantedBug } from './bug.ts';

const LEDGER = 'extensions/postgres/ledger/ledger.js';
const ATTEMPT = 'extensions/postgres/ledger/attempt.js';
const LIMITS = 'extensions/postgres/ledger/limits.js';
const GUARDS = 'extensions/postgres/ledger/guards.js';
const STATEMENTS = 'extensions/postgres/ledger/guard-statements.js';
const SESSION = 'extensions/postgres/ledger/session.js';

export const LEDGER_BUGS: readonly PlantedBug[] = [
  {
    name: 'acknowledged-before-commit',
    about: 'COMMIT is sent, and its answer is not waited for',
    edits: [
      {
        file: ATTEMPT,
        find: 'await runPipeline(client, [addUsage(usage), { statement: { text: COMMIT }, read: readCommit }]);',
        replace:
          'void runPipeline(client, [addUsage(usage), { statement: { text: COMMIT }, read: readCommit }]).catch(() => undefined);',
      },
    ],
    campaign: 'twins',
    cycles: 1,
    kinds: ['false_200'],
  },
  {
    name: 'marker-outside-the-transaction',
    about: 'the replay marker is committed before the rows',
    edits: [
      {
        file: ATTEMPT,
        find: 'await this.#store(round, this.#opening(), demandGuards(round, this));',
        replace:
          'const [[marker, ...guards]] = demandGuards(round, this);\nawait runPipeline(client, [marker]);\nawait this.#store(round, this.#opening(), [guards]);',
      },
    ],
    campaign: 'ambiguous',
    cycles: 8,
    kinds: ['lost'],
  },
  {
    name: 'unsorted-keys',
    about: 'two writers lock the same traces in different orders',
    edits: [
      { file: STATEMENTS, find: '  ORDER BY trace_id\n', replace: '' },
      {
        file: 'service/settle/claim.js',
        find: 'yield* sortInSteps(open, (a, b) => (a.traceId < b.traceId ? -1 : 1))',
        replace: 'open',
      },
    ],
    campaign: 'crowd',
    cycles: 15,
    kinds: ['deadlock'],
  },
  {
    name: 'pooled-timed-out-connection',
    about: 'a group is given up, and its connection serves the next one, which commits what the first has left open',
    edits: [
      { file: LIMITS, find: 'const ROUND_MS = 30000;', replace: 'const ROUND_MS = 150;' },
      {
        file: LEDGER,
        find: 'const deadline = setTimeout(() => ',
        replace:
          "const deadline = setTimeout(() => client._activeQuery?.handleError(Object.assign(new Error('timed out'), { code: '53000' })) ?? true ?? ",
      },
      {
        file: LEDGER,
        find: "if (isConnectionFailure(error) || meaning === 'unavailable')",
        replace:
          "if (error.message === 'timed out') { }\n        else if (isConnectionFailure(error) || meaning === 'unavailable')",
      },
    ],
    campaign: 'proxy',
    cycles: 18,
    only: 'delay 300 ms at frontend Execute',
    kinds: ['wrong_quota', 'partial', 'lost'],
  },
  {
    name: 'quota-read-without-lock',
    about: 'two replicas read the same counter, and both find room',
    edits: [
      {
        file: STATEMENTS,
        find: "'SELECT project, spans FROM sluice.lock_usage($1::text[])'",
        replace:
          '`SELECT project, spans FROM sluice.usage_months WHERE month = ${' + 'MONTH} AND project = ANY ($1::text[])`',
      },
    ],
    campaign: 'crowd',
    cycles: 8,
    kinds: ['wrong_quota'],
  },
  {
    name: 'marker-of-a-refused-request',
    about: 'a refusal commits what the guards had set',
    edits: [
      {
        file: ATTEMPT,
        find: "await client.query('ROLLBACK');\n            return { verdicts",
        replace: "await client.query('COMMIT');\n            return { verdicts",
      },
    ],
    campaign: 'crowd',
    cycles: 4,
    kinds: ['residue'],
  },
  {
    name: 'claim-of-a-refused-request',
    about: 'a refusal takes its markers back, and keeps its claims on traces',
    edits: [
      {
        file: ATTEMPT,
        find: "await client.query('ROLLBACK');\n            return { verdicts",
        replace:
          'await client.query("DELETE FROM sluice.replay_markers WHERE xmin::text = pg_current_xact_id()::text");\n            await client.query(\'COMMIT\');\n            return { verdicts',
      },
    ],
    campaign: 'crowd',
    cycles: 4,
    kinds: ['residue'],
  },
  {
    name: 'lost-commit-taken-for-done',
    about: 'a connection lost at COMMIT is taken for a commit, and nobody asks the marker',
    edits: [
      {
        file: LEDGER,
        find: 'if (marked.size < round.length)',
        replace: 'if (marked === undefined)',
      },
    ],
    campaign: 'ambiguous',
    cycles: 8,
    kinds: ['lost', 'false_200'],
  },
  {
    name: 'lost-connection-answered-400',
    about: 'a fault of ours is answered as one of the sender, who will not send again',
    edits: [
      {
        file: LEDGER,
        find: "const rejection = new Rejection('ingestion_failed', { cause: describe(error) });",
        replace: "const rejection = new Rejection('invalid_payload', { cause: describe(error) });",
      },
    ],
    campaign: 'ambiguous',
    cycles: 4,
    kinds: ['wrong_answer'],
  },
  {
    name: 'counter-in-its-own-transaction',
    about: 'the rows are committed, then the usage is counted',
    edits: [
      {
        file: ATTEMPT,
        find: 'this.committing = true;',
        replace: "await client.query('COMMIT');\nthis.committing = true;",
      },
    ],
    campaign: 'ambiguous',
    cycles: 8,
    kinds: ['wrong_quota'],
  },
  {
    name: 'environment-of-a-trace-ignored',
    about: 'a stored trace of another environment takes the spans',
    edits: [{ file: STATEMENTS, find: ' AND t.environment = excluded.environment', replace: '' }],
    campaign: 'crowd',
    cycles: 10,
    kinds: ['foreign'],
  },
  {
    name: 'owner-of-a-trace-ignored',
    about: 'a trace of another project takes the spans',
    edits: [{ file: STATEMENTS, find: 't.project = excluded.project AND ', replace: '' }],
    campaign: 'crowd',
    cycles: 10,
    kinds: ['foreign'],
  },
  {
    name: 'replay-across-projects',
    about: 'the marker knows the bytes, and not whose they are',
    edits: [
      {
        file: GUARDS,
        find: 'textArray(claims.map(({ project }) => project.name)), byteaArray(',
        replace: "textArray(claims.map(() => 'everybody')), byteaArray(",
      },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: code of the product.
      { file: GUARDS, find: '`${project}\\0${key}`', replace: '`everybody\\0${key}`' },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: code of the product.
      { file: GUARDS, find: '`${claim.project.name}\\0', replace: '`everybody\\0' },
    ],
    campaign: 'crowd',
    cycles: 4,
    kinds: ['lost'],
  },
  {
    name: 'failed-transaction-acknowledged',
    about: 'an error within the transaction is swallowed, and COMMIT of a failed one is no error',
    edits: [
      { file: ATTEMPT, find: 'await open.taken();', replace: 'await open.taken().catch(() => undefined);' },
      { file: ATTEMPT, find: 'if (tag !== COMMIT)', replace: "if (tag === '')" },
      {
        file: ATTEMPT,
        find: 'addUsage(usage), ',
        replace: '',
      },
    ],
    campaign: 'crowd',
    cycles: 4,
    kinds: ['lost', 'false_200'],
  },
  {
    name: 'markers-never-hold',
    about: 'every body is new, however often it comes',
    edits: [{ file: STATEMENTS, find: ' WHERE r.expires_ms <= excluded.expires_ms - 3600000', replace: '' }],
    campaign: 'crowd',
    cycles: 4,
    kinds: ['duplicate'],
  },
  {
    name: 'asynchronous-commit',
    about: 'the server answers COMMIT before its log is on disk',
    edits: [{ file: SESSION, find: "ELSE 'on' END", replace: "ELSE 'off' END" }],
    campaign: 'database',
    cycles: 4,
    kinds: ['lost'],
  },
];
