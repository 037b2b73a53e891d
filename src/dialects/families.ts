/** All dialects. The order decides when rows of several dialects can fill the same field. */
import { AG2 } from './ag2.ts';
import { AGENTA } from './agenta.ts';
import { AGENTOPS } from './agentops.ts';
import { BRAINTRUST } from './braintrust.ts';
import { CLAUDE_CODE, ANTHROPIC_NATIVE } from './claude-code.ts';
import { MISTRAL_SDK } from './clients.ts';
import { CLOUDFLARE, ENVOY_AI_GATEWAY } from './cloudflare.ts';
import { CODEX } from './codex.ts';
import { COPILOT } from './copilot.ts';
import { CREWAI } from './crewai.ts';
import { DIFY } from './dify.ts';
import { GEMINI_CLI, QWEN_CODE } from './gemini-cli.ts';
import { GENKIT } from './genkit.ts';
import { GOOGLE_ADK } from './google-adk.ts';
import { HAYSTACK } from './haystack.ts';
import { LAMINAR } from './laminar.ts';
import { LANGFUSE } from './langfuse.ts';
import { LANGSMITH } from './langsmith.ts';
import { LANGTRACE } from './langtrace.ts';
import { LANGWATCH } from './langwatch.ts';
import { LITELLM } from './litellm.ts';
import { LLAMA_INDEX } from './llama-index.ts';
import { LIVEKIT } from './livekit.ts';
import { LOONGSUITE, SPLUNK } from './loongsuite.ts';
import { MASTRA } from './mastra.ts';
import { MCP, FASTMCP } from './mcp.ts';
import { SEMANTIC_KERNEL, AGENT_FRAMEWORK, MS_EXTENSIONS_AI, AZURE_AI, AUTOGEN } from './microsoft.ts';
import { MLFLOW } from './mlflow.ts';
import { N8N } from './n8n.ts';
import { OPENINFERENCE } from './openinference.ts';
import { OPENLIT } from './openlit.ts';
import { OPENLLMETRY } from './openllmetry.ts';
import { OPENROUTER } from './openrouter.ts';
import { OTEL, OTEL_LEGACY, OTEL_NEXT } from './otel.ts';
import { PIPECAT } from './pipecat.ts';
import { PYDANTIC_AI, LOGFIRE } from './pydantic-ai.ts';
import { QUARKUS_LANGCHAIN4J } from './quarkus.ts';
import { RIG } from './rig.ts';
import { SENTRY } from './sentry.ts';
import { SPRING_AI } from './spring-ai.ts';
import { STRANDS, AGENTCORE } from './strands.ts';
import { TANSTACK } from './tanstack.ts';
import { TRACEAI } from './traceai.ts';
import { VERCEL_AI, VERCEL_AI_V7 } from './vercel-ai.ts';
import { VOLTAGENT } from './voltagent.ts';
import { WEAVE } from './weave.ts';
import type { Dialect } from './dialect.ts';

export const DIALECTS: readonly Dialect[] = [
  OTEL,
  OTEL_LEGACY,
  OTEL_NEXT,
  MISTRAL_SDK,
  OPENINFERENCE,
  OPENLLMETRY,
  VERCEL_AI,
  VERCEL_AI_V7,
  // Before Langfuse, whose attributes they write beside their own.
  TANSTACK,
  LIVEKIT,
  LANGFUSE,
  LANGSMITH,
  PYDANTIC_AI,
  LOGFIRE,
  OPENLIT,
  GOOGLE_ADK,
  GENKIT,
  MASTRA,
  STRANDS,
  AGENTCORE,
  SEMANTIC_KERNEL,
  AGENT_FRAMEWORK,
  MS_EXTENSIONS_AI,
  AZURE_AI,
  AUTOGEN,
  AG2,
  COPILOT,
  SPRING_AI,
  QUARKUS_LANGCHAIN4J,
  PIPECAT,
  HAYSTACK,
  CREWAI,
  LLAMA_INDEX,
  MLFLOW,
  BRAINTRUST,
  LITELLM,
  CODEX,
  GEMINI_CLI,
  QWEN_CODE,
  CLAUDE_CODE,
  ANTHROPIC_NATIVE,
  SENTRY,
  LAMINAR,
  LANGWATCH,
  AGENTA,
  TRACEAI,
  AGENTOPS,
  LANGTRACE,
  LOONGSUITE,
  SPLUNK,
  DIFY,
  N8N,
  OPENROUTER,
  CLOUDFLARE,
  ENVOY_AI_GATEWAY,
  VOLTAGENT,
  RIG,
  MCP,
  FASTMCP,
  WEAVE,
];
