/** Planted faults around the ledger: who waits for whom, which verdict goes to whom, and what the file promises. */
import type { PlantedBug } from './bug.ts';

const GROUP_COMMIT = 'service/settle/group-commit.js';
const VERDICTS = 'extensions/postgres/ledger/verdicts.js';

export const SERVICE_BUGS: readonly PlantedBug[] = [
  {
    name: 'queue-in-between',
    about: 'the answer goes out when the request is queued',
    edits: [
      {
        file: 'service/pipeline.js',
        find: 'const acceptance = await this.#parts.groupCommit.settle(passed.claim, passed.encoded, trace);',
        replace:
          'void this.#parts.groupCommit.settle(passed.claim, passed.encoded, trace).catch(() => undefined);\nconst acceptance = { replayed: false, quota: null };',
      },
    ],
    campaign: 'crowd',
    cycles: 3,
    kinds: ['false_200', 'lost'],
  },
  {
    name: 'twin-answered-early',
    about: 'equal bytes in flight are answered 200 at once, before the first of them is committed',
    edits: [
      {
        file: GROUP_COMMIT,
        find: 'return new Promise((settle) => {\n',
        replace: `const twin = claim.project.name + Buffer.from(claim.replayKey).toString('hex');
        const flying = (this.flying ??= new Set());
        if (flying.has(twin))
            return Promise.resolve({ kind: 'replayed', quota: null });
        flying.add(twin);
        return new Promise((settle) => {
`,
      },
      {
        file: GROUP_COMMIT,
        find: 'bytes, trace, settle });',
        replace: 'bytes, trace, settle: (verdict) => { flying.delete(twin); settle(verdict); } });',
      },
    ],
    campaign: 'twins',
    cycles: 1,
    kinds: ['false_200'],
  },
  {
    name: 'marker-in-memory',
    about: 'a body is remembered when it arrives, whatever becomes of it',
    edits: [
      {
        file: GROUP_COMMIT,
        find: 'return new Promise((settle) => {\n',
        replace: `const name = claim.project.name + Buffer.from(claim.replayKey).toString('hex');
        const seen = (this.seen ??= new Set());
        if (seen.has(name))
            return Promise.resolve({ kind: 'replayed', quota: null });
        seen.add(name);
        return new Promise((settle) => {
`,
      },
    ],
    campaign: 'crowd',
    cycles: 3,
    kinds: ['lost', 'false_200'],
  },
  {
    name: 'verdicts-shifted',
    about: 'the requests of a group get each other’s verdicts',
    edits: [
      {
        file: GROUP_COMMIT,
        find: 'decisions[index] ?? ',
        replace: 'decisions[(index + 1) % group.length] ?? ',
      },
    ],
    campaign: 'crowd',
    cycles: 4,
    kinds: ['wrong_answer', 'lost', 'false_200'],
  },
  {
    name: 'group-shares-a-refusal',
    about: 'one refused request takes the rest of its group with it',
    edits: [
      {
        file: VERDICTS,
        find: "refused.set(claim, { kind: 'refused', rejection });\n    }",
        replace: "for (const one of claims) refused.set(one, { kind: 'refused', rejection });\n    }",
      },
    ],
    campaign: 'crowd',
    cycles: 4,
    kinds: ['wrong_answer'],
  },
  {
    name: 'repeated-spans-counted',
    about: 'a span that comes again counts again',
    edits: [{ file: VERDICTS, find: 'if (storedSpans !== null)', replace: 'if (storedSpans === undefined)' }],
    campaign: 'crowd',
    cycles: 4,
    kinds: ['wrong_quota'],
  },
  {
    name: 'scope-of-a-key-ignored',
    about: 'a key for one environment writes into another',
    edits: [
      {
        file: 'processors/environment/environment.js',
        find: 'scope !== null && scope !== environment',
        replace: 'scope === undefined',
      },
    ],
    campaign: 'crowd',
    cycles: 3,
    kinds: ['wrong_answer'],
  },
  {
    name: 'file-not-synced',
    about: 'the file is written, and the answer does not wait for the disk',
    edits: [
      {
        file: 'exporters/file/ndjson-file.js',
        find: 'await handle.datasync();\n        }\n        catch (error) {',
        replace: '}\n        catch (error) {',
      },
    ],
    campaign: 'file',
    cycles: 2,
    kinds: ['lost'],
  },
];
