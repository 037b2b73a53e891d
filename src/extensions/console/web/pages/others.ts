/** The pages besides the traces, in one part: they share most of their code. */
export { ComparePage } from './compare/page.tsx';
export { ConversationPage, ConversationsPage } from './conversations.tsx';
export { LogsPage } from './logs.tsx';
export { MetricsPage } from './metrics/page.tsx';
export { ProjectPage } from './project/page.tsx';
export { NewProject } from './project/people.tsx';
export { StatusPage } from './status.tsx';
export { UsagePage } from './usage/page.tsx';
