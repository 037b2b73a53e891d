/** Each failure between a request and its file has a test. This list misses one that is renamed. */
import { readFileSync } from 'node:fs';
import t from 'tap';

const SOURCES = new URL('../../../../test/', import.meta.url);
const OBJECTS = 'exporters/objects/objects.test.ts';
const COMPACT = 'archive/compaction/compact.test.ts';
const ORPHANS = 'exporters/objects/orphans.test.ts';
const KILL = 'campaigns/crash/scenarios/kill.ts';

type Proof = readonly [file: string, text: string];

const CASES: Readonly<Record<string, readonly Proof[]>> = {
  'a crash before or during the put': [
    [KILL, 'the same with records in objects only'],
    [ORPHANS, 'old objects that no part names are removed; the others and what is not of the exporter stay'],
  ],
  'a put without an answer, whose outcome is unknown': [
    [OBJECTS, 'is repeated under a new key, and nothing is stored twice'],
    [OBJECTS, 'a cut answer of a put: the put counts, or is repeated; nothing is stored twice'],
    ['exporters/objects/shipper.test.ts', 'a put that failed is repeated under a new key, because it may have written'],
  ],
  'a bucket that is unavailable or denies': [
    [OBJECTS, 'a bucket that refuses: 503 with Retry-After and not ready, until it can be written again'],
    [
      OBJECTS,
      'a bucket that is unavailable at the start: the daemon starts, answers 503, and stores when it is available',
    ],
  ],
  'a crash after the put, before the commit': [[KILL, "name: 'COPY begun'"]],
  'a guard refuses, or a replay': [
    [OBJECTS, 'a replay, a conflict, another environment and a full quota leave no part'],
  ],
  'the commit fails, or the database is unavailable after the put': [
    [OBJECTS, 'a commit that fails after the put leaves an object without a part; sent again, it is stored once'],
    ['exporters/objects/staged-rows.test.ts', 'rows are not committed ten minutes after the put of their object began'],
  ],
  'the outcome of the commit is unknown': [[KILL, "name: 'COMMIT'"]],
  'the same bytes at once': [[OBJECTS, 'equal bytes at once are accepted once']],
  'a crash in the compaction, anywhere': [
    [COMPACT, 'a run that fails at any step is repeated under the same keys'],
    ['campaigns/archive/compaction.ts', 'each acknowledged span is in the lake once, and its objects are gone'],
  ],
  'an object that is lost or damaged before its publication': [
    [COMPACT, 'an object that is lost or damaged stops the run, and nothing of its compaction is published'],
  ],
  'a clock that is wrong': [
    ['exporters/objects/shipper.test.ts', 'the age is that of the put that succeeded, by the clock that went further'],
    [ORPHANS, 'idAgeMs'],
  ],
};

for (const [name, proofs] of Object.entries(CASES))
  t.test(name, async (t) => {
    for (const [file, text] of proofs)
      t.ok(readFileSync(new URL(file, SOURCES), 'utf8').includes(text), `${file}: ${text}`);
  });
