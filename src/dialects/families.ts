/** All dialects. The order decides when rows of several dialects can fill the same field. */
import { AGENTA_FAMILY } from './agenta.ts';
import { AGENTOPS_FAMILY } from './agentops.ts';
import { BRAINTRUST_FAMILY } from './braintrust.ts';
import { CLAUDE_CODE_FAMILY } from './claude-code.ts';
import { CLOUDFLARE_FAMILY } from './cloudflare.ts';
import { CODEX_FAMILY } from './codex.ts';
import { COPILOT_FAMILY } from './copilot.ts';
import { CREWAI_FAMILY } from './crewai.ts';
import { DIFY_FAMILY } from './dify.ts';
import { GEMINI_CLI_FAMILY } from './gemini-cli.ts';
import { GENKIT_FAMILY } from './genkit.ts';
import { GOOGLE_ADK_FAMILY } from './google-adk.ts';
import { HAYSTACK_FAMILY } from './haystack.ts';
import { LAMINAR_FAMILY } from './laminar.ts';
import { LANGFUSE_FAMILY } from './langfuse.ts';
import { LANGSMITH_FAMILY } from './langsmith.ts';
import { LANGTRACE_FAMILY } from './langtrace.ts';
import { LANGWATCH_FAMILY } from './langwatch.ts';
import { LITELLM_FAMILY } from './litellm.ts';
import { LIVEKIT_FAMILY } from './livekit.ts';
import { LOONGSUITE_FAMILY } from './loongsuite.ts';
import { MASTRA_FAMILY } from './mastra.ts';
import { MCP_FAMILY } from './mcp.ts';
import { MICROSOFT_FAMILY } from './microsoft.ts';
import { MLFLOW_FAMILY } from './mlflow.ts';
import { N8N_FAMILY } from './n8n.ts';
import { OPENINFERENCE_FAMILY } from './openinference.ts';
import { OPENLIT_FAMILY } from './openlit.ts';
import { OPENLLMETRY_FAMILY } from './openllmetry.ts';
import { OPENROUTER_FAMILY } from './openrouter.ts';
import { OTEL_FAMILY } from './otel.ts';
import { PIPECAT_FAMILY } from './pipecat.ts';
import { PYDANTIC_AI_FAMILY } from './pydantic-ai.ts';
import { SENTRY_FAMILY } from './sentry.ts';
import { SPRING_AI_FAMILY } from './spring-ai.ts';
import { STRANDS_FAMILY } from './strands.ts';
import { TANSTACK_FAMILY } from './tanstack.ts';
import { TRACEAI_FAMILY } from './traceai.ts';
import { VERCEL_AI_FAMILY } from './vercel-ai.ts';
import { VOLTAGENT_FAMILY } from './voltagent.ts';
import { WEAVE_FAMILY } from './weave.ts';
import type { Dialect } from './dialect.ts';

export const DIALECTS: readonly Dialect[] = [
  ...OTEL_FAMILY,
  ...OPENINFERENCE_FAMILY,
  ...OPENLLMETRY_FAMILY,
  ...VERCEL_AI_FAMILY,
  ...LANGFUSE_FAMILY,
  ...LANGSMITH_FAMILY,
  ...PYDANTIC_AI_FAMILY,
  ...OPENLIT_FAMILY,
  ...GOOGLE_ADK_FAMILY,
  ...GENKIT_FAMILY,
  ...MASTRA_FAMILY,
  ...STRANDS_FAMILY,
  ...MICROSOFT_FAMILY,
  ...COPILOT_FAMILY,
  ...SPRING_AI_FAMILY,
  ...LIVEKIT_FAMILY,
  ...PIPECAT_FAMILY,
  ...HAYSTACK_FAMILY,
  ...CREWAI_FAMILY,
  ...MLFLOW_FAMILY,
  ...BRAINTRUST_FAMILY,
  ...LITELLM_FAMILY,
  ...CODEX_FAMILY,
  ...GEMINI_CLI_FAMILY,
  ...CLAUDE_CODE_FAMILY,
  ...SENTRY_FAMILY,
  ...LAMINAR_FAMILY,
  ...LANGWATCH_FAMILY,
  ...AGENTA_FAMILY,
  ...TRACEAI_FAMILY,
  ...AGENTOPS_FAMILY,
  ...LANGTRACE_FAMILY,
  ...LOONGSUITE_FAMILY,
  ...DIFY_FAMILY,
  ...N8N_FAMILY,
  ...OPENROUTER_FAMILY,
  ...CLOUDFLARE_FAMILY,
  ...TANSTACK_FAMILY,
  ...VOLTAGENT_FAMILY,
  ...MCP_FAMILY,
  ...WEAVE_FAMILY,
];
