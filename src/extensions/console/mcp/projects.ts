/** The tool `list_projects`, and the project that other tools work on. */
import { parseExact } from '../../../pdata/exact-json.ts';
import type { ProjectShape } from '../api/shapes/management.ts';
import { plural, timeOf } from './figures.ts';
import { type Api, type Argument, MAX_ANSWER_BYTES, fitLines, type Tool, ToolFault, type ToolValues } from './tool.ts';
import { line } from './untrusted.ts';

const SHOWN_NAMES = 20;
const LONGEST_PROJECT = 63;

export const PROJECT_ARGUMENT: Argument = {
  type: 'string',
  maxLength: LONGEST_PROJECT,
  description: 'The name of the project. May be left out when there is only one.',
};

async function readProjects(api: Api): Promise<readonly ProjectShape[]> {
  return (parseExact(await api.get('/api/v1/projects')) as { readonly items: readonly ProjectShape[] }).items;
}

/** The named project, else the only one. */
export async function projectOf(values: ToolValues, api: Api): Promise<string> {
  const name = values.text('project');
  if (name !== '') return name;
  const [only, ...others] = await readProjects(api);
  if (only === undefined) throw new ToolFault('you may see no project');
  if (others.length === 0) return only.name;
  const names = [only, ...others].slice(0, SHOWN_NAMES).map((project) => line(project.name));
  throw new ToolFault(`name the project: ${names.join(', ')}${others.length >= SHOWN_NAMES ? ', …' : ''}`);
}

export const listProjects: Tool = {
  name: 'list_projects',
  title: 'List projects',
  description:
    'The projects that you may read, with the time of their newest trace. Begin here when there are several.',
  properties: {},
  required: [],
  async run(_values, { api }) {
    const projects = await readProjects(api);
    if (projects.length === 0) return 'There is no project that you may read.';
    const lines = projects.map(
      ({ name, spans_this_month: spans, newest_trace_unix_nano: newest }) =>
        `${line(name)} · ${plural(spans, 'span')} this month · newest trace ${timeOf(newest)}`,
    );
    return fitLines(lines, MAX_ANSWER_BYTES - 100, (left) => `… ${left} more`).join('\n');
  },
};
