/** CrewAI's own telemetry; mostly it arrives through other instrumentations. */
import type { Dialect } from './dialect.ts';

export const CREWAI: Dialect = {
  id: 'crewai',
  scopes: ['crewai.telemetry'],
  hints: ['crewai_version'],
  content: [
    {
      only: ['crewai', 'openinference'],
      attributes: [
        'crew_inputs',
        'task_output',
        'formatted_description',
        'formatted_expected_output',
        'crew_agents',
        'crew_tasks',
        'crew_output',
      ],
    },
  ],
  sources: ['crewAIInc/crewAI: lib'],
};
