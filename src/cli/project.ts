/** `sluice project …`: projects and their plans. */
import type { Plan } from '../pdata/context.ts';
import type { ProjectRow } from '../component/capabilities/administration.ts';
import { Administration } from '../extensions/postgres/administration.ts';
import type { Call, Command } from './command.ts';
import { commandLine } from './command-line.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { withDatabase } from './database.ts';
import { flagOption, onlyWord, textOption, UsageError } from './options.ts';
import { layOut } from './terminal.ts';
import { plural } from './view/format.ts';

const MONTHLY_SPANS = textOption('N', 'Spans a month on the free plan');

export const commands: Readonly<Record<string, Command>> = {
  create: {
    options: {
      ...CONFIG_OPTIONS,
      plan: textOption('free|paid', 'The plan', { default: 'paid' }),
      'monthly-spans': MONTHLY_SPANS,
    },
    examples: [
      ['sluice project create shop', 'a project without a quota'],
      ['sluice project create trial --plan free --monthly-spans 100000', 'one with a monthly quota'],
    ],
    run: (call) => {
      const name = onlyWord(call, 'NAME');
      const plan = planOf(call);
      return withDatabase(call, 'write', async (database) => {
        await new Administration(database).createProject(name, ...plan);
        call.terminal.print(`Created the project ${name}. Next: ${commandLine(call, `key create --project ${name}`)}`);
      });
    },
  },
  'set-plan': {
    options: { ...CONFIG_OPTIONS, plan: textOption('free|paid', 'The plan; needed'), 'monthly-spans': MONTHLY_SPANS },
    examples: [['sluice project set-plan trial --plan paid', 'lift the quota']],
    run: (call) => {
      const name = onlyWord(call, 'NAME');
      // The default of a new project would lift the quota of this one.
      if (!call.values.flag('plan'))
        throw new UsageError('--plan is missing', 'use --plan paid, or --plan free --monthly-spans N');
      const [plan, monthlySpans] = planOf(call);
      return withDatabase(call, 'write', async (database) => {
        await new Administration(database).setPlan(name, plan, monthlySpans);
        call.terminal.print(
          `${name} is on the ${plan} plan now${monthlySpans === null ? '' : `, ${plural(monthlySpans, 'span')} a month`}.`,
        );
      });
    },
  },
  list: {
    options: { ...CONFIG_OPTIONS, json: flagOption('Print JSON') },
    examples: [['sluice project list', 'list them']],
    run: (call) =>
      withDatabase(call, 'read', async (database) => {
        const projects = await new Administration(database).listProjects();
        call.terminal.print(call.values.flag('json') ? JSON.stringify(projects, null, 2) : table(projects));
      }),
  },
};

function table(projects: readonly ProjectRow[]): string {
  if (projects.length === 0) return 'There are no projects yet. Create one with: sluice project create <NAME>';
  const rows = projects.map(({ name, plan, monthlySpans, createdAt, spansThisMonth, activeKeys }) => [
    name,
    createdAt === null ? 'configuration' : plan,
    monthlySpans === null ? '-' : String(monthlySpans),
    String(spansThisMonth),
    String(activeKeys),
  ]);
  return layOut([['PROJECT', 'PLAN', 'QUOTA', 'SPANS THIS MONTH', 'KEYS'], ...rows]);
}

function planOf({ values }: Call): [Plan, number | null] {
  const plan = values.word('plan');
  if (plan !== 'free' && plan !== 'paid') throw new UsageError(`there is no plan "${plan}"`, 'use free or paid');
  const text = values.text('monthly-spans');
  if (text === undefined) return [plan, null];
  const monthlySpans = /^\d+$/u.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(monthlySpans)) throw new UsageError(`--monthly-spans takes a whole number, not "${text}"`);
  return [plan, monthlySpans];
}
