/** n8n: workflow spans without any model attributes. */
import type { Dialect } from './dialect.ts';

export const N8N: Dialect = {
  id: 'n8n',
  scopes: ['n8n*'],
  markers: ['n8n.workflow.id'],
  fields: {
    error_type: ['n8n.execution.error_type'],
  },
  sources: ['n8n-io/n8n: packages/cli/src/modules/otel'],
};
